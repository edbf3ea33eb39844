#include "kit/readings.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/digest.h"
#include "kit/fields.h"
#include "kit/formats.h"

namespace deem::kit {
namespace {

/// What an arm's readings may be called besides those of a kit.
constexpr std::string_view kReservedReadings[] = {
    "letters", "words", "words-unlisted", "written", "native", "all", "prior", "reference"};

LikelihoodReading built_in(std::string name, std::string_view given, std::string_view score) {
  auto reading = make_reading(std::move(name), given, score, false, "N/A");
  DEEM_CHECK(reading.has_value());
  return std::move(*reading);
}

Result<decision::Template> parse_part(std::string_view what, std::string_view text) {
  auto parsed = decision::Template::parse(text);
  if (!parsed) return fail(what, parsed.error());
  if (parsed->uses("options")) {
    return fail(Error::Code::BadInput,
                std::string(what) + ": {options} is for layouts, a reading scores one option");
  }
  return parsed;
}

}  // namespace

Result<LikelihoodReading> make_reading(std::string name, std::string_view given,
                                       std::string_view score, bool chat, std::string empty) {
  if (!is_task_name(name)) {
    return fail(Error::Code::BadInput,
                "name " + in_quotes(name) + " may hold letters, digits, \"_\" and \"-\" only");
  }
  if (std::ranges::find(kReservedReadings, name) != std::end(kReservedReadings)) {
    return fail(Error::Code::BadInput,
                "name " + in_quotes(name) + " stands for a reading of deem's own");
  }
  auto given_template = parse_part("given", given);
  if (!given_template) return fail(given_template.error());
  auto score_template = parse_part("score", score);
  if (!score_template) return fail(score_template.error());
  if (score.empty()) return fail(Error::Code::BadInput, "score is empty, nothing to score");
  return LikelihoodReading{.name = std::move(name),
                           .given = std::move(*given_template),
                           .score = std::move(*score_template),
                           .chat = chat,
                           .empty = std::move(empty)};
}

std::string LikelihoodReading::digest() const {
  std::string parts = given.text();
  for (const std::string_view part :
       {std::string_view(score.text()), std::string_view(chat ? "chat" : "plain"),
        std::string_view(empty)}) {
    parts += std::string_view("\n\0", 2);
    parts += part;
  }
  return sha256_hex(parts);
}

LikelihoodReading gain_reading() {
  return built_in("gain", "{state}\n\nQuestion:", " {question}\n");
}

LikelihoodReading question_channel() {
  return built_in("channel", "{option}\n\nQuestion:", " {question}\n");
}

std::vector<LikelihoodReading> answered_readings() {
  return {gain_reading(), built_in("cloze", "{state}\n\n{instructions}\nAnswer:", " {key}")};
}

std::vector<LikelihoodReading> said_readings() {
  return {built_in("cloze", "{state}\n\n\"{question}\"\nThese are the words of", " {description}"),
          built_in("channel", "{state}\n\n{description} said: \"", "{question}\"")};
}

std::vector<LikelihoodReading> message_readings() {
  return {built_in("cloze", "\"{state}\"\n{instructions}\nAnswer:", " {option}"),
          built_in("channel", "{instructions}\nAnswer: {option}\n\n\"", "{state}\"")};
}

void apply_extra_readings(Draft& draft, const LoadOptions& options) {
  for (const auto& [path, reading] : options.extra_readings) {
    const std::string_view name = path;
    const std::size_t dot = name.find('.');
    const auto task = std::ranges::find(draft.kit.tasks, name.substr(0, dot), &Task::name);
    if (dot == std::string_view::npos || task == draft.kit.tasks.end()) {
      draft.refuse({SIZE_MAX, 0}, "reading " + in_quotes(path) + " is for a task this kit has not");
      continue;
    }
    LikelihoodReading added = reading;
    added.name = name.substr(dot + 1);
    if (added.empty.empty()) added.empty = task->empty;
    const auto same = std::ranges::find(task->readings, added.name, &LikelihoodReading::name);
    if (same != task->readings.end()) {
      *same = std::move(added);
    } else {
      task->readings.push_back(std::move(added));
    }
  }
}

}  // namespace deem::kit

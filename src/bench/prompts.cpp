#include "bench/prompts.h"

#include <algorithm>

#include "base/check.h"
#include "seat/native_form.h"

namespace deem::bench {
namespace {

using decision::Option;
using decision::Template;

const kit::LikelihoodReading* find_likelihood(const kit::Task& task, std::string_view name) {
  const auto found = std::ranges::find(task.readings, name, &kit::LikelihoodReading::name);
  return found == task.readings.end() ? nullptr : &*found;
}

std::string fill(const Template& text, const kit::Item& item, std::string_view state,
                 const Option* option) {
  return text.fill({.state = state,
                    .instructions = item.question.instructions,
                    .question = item.question.question,
                    .options = {},
                    .option = option,
                    .letter = {},
                    .meta = &item.meta});
}

TextsPrompt likelihood_texts(const kit::LikelihoodReading& reading, const kit::Item& item,
                             std::string_view state, bool prior) {
  TextsPrompt out;
  out.digest = reading.digest();
  const auto request = [&](std::string_view shown, const Option* option) {
    return seat::LikelihoodRequest{fill(reading.given, item, shown, option),
                                   fill(reading.score, item, state, option), reading.chat};
  };
  // Where the state is what is scored, an empty state would score another text: no prior.
  const bool has_prior = prior && reading.given.uses("state") && !reading.score.uses("state");
  const auto add = [&](const Option* option) {
    out.texts.push_back(request(state, option));
    out.priors.push_back(has_prior ? std::optional(request(reading.empty, option)) : std::nullopt);
  };
  if (!reading.given.uses_option() && !reading.score.uses_option()) {
    add(nullptr);
  } else {
    for (const Option& option : item.question.options) add(&option);
  }
  return out;
}

TextsPrompt words_texts(const kit::Kit& kit, const kit::Task& task, const kit::Item& item,
                        bool listed, bool prior) {
  TextsPrompt out;
  const auto given = [&](std::string_view state) {
    return decision::render_words(kit.layout, listed, state, item.question, item.meta);
  };
  const std::string with_state = given(kit.states[item.state].text);
  const std::string without = prior ? given(task.empty) : std::string();
  for (const Option& option : item.question.options) {
    const std::string text(option.words());
    out.texts.push_back({with_state, text, true});
    out.priors.push_back(prior ? std::optional(seat::LikelihoodRequest{without, text, true})
                               : std::nullopt);
  }
  return out;
}

}  // namespace

std::optional<ReadingKind> find_reading(const kit::Task& task, std::string_view name) {
  if (name == "letters") return ReadingKind::Letters;
  if (name == "words") return ReadingKind::Words;
  if (name == "words-unlisted") return ReadingKind::WordsUnlisted;
  if (name == "written") return ReadingKind::Written;
  if (name == kNativeReading) return ReadingKind::Native;
  if (find_likelihood(task, name) != nullptr) return ReadingKind::Likelihood;
  return std::nullopt;
}

std::vector<ReadingChoice> readings_for(const Arm& arm, const kit::Task& task) {
  if (arm.readings.size() == 1 && arm.readings.front().name == kChosenReading) {
    const record::FitEntry* entry = record::chosen_entry(arm.fit, task.name);
    if (entry == nullptr)
      return {{is_native(arm) ? std::string(kNativeReading) : "letters", false}};
    return {{entry->reading, entry->variant.starts_with("prior")}};
  }
  if (!is_all(arm)) return arm.readings;
  if (is_native(arm)) return {{std::string(kNativeReading), false}};
  std::vector<ReadingChoice> out = {{"letters", true}, {"words", true}, {"words-unlisted", true}};
  for (const auto& reading : task.readings) out.push_back({reading.name, true});
  return out;
}

LettersPrompt make_letters_prompt(const kit::Kit& kit, const kit::Item& item,
                                  std::string_view state) {
  LettersPrompt out;
  const std::vector<Option>& options = item.question.options;
  out.groups = decision::tournament_groups(options.size());
  for (const decision::Group& group : out.groups) {
    const std::span<const Option> part(options.data() + group.first, group.last - group.first);
    out.prompts.push_back(
        decision::render_letters(kit.layout, state, item.question, part, item.meta));
  }
  return out;
}

std::string make_final_prompt(const kit::Kit& kit, const kit::Item& item, std::string_view state,
                              const std::vector<std::size_t>& winners) {
  std::vector<Option> options;
  for (const std::size_t winner : winners) options.push_back(item.question.options[winner]);
  return decision::render_letters(kit.layout, state, item.question, options, item.meta);
}

TextsPrompt make_texts_prompt(const kit::Kit& kit, const kit::Task& task, const kit::Item& item,
                              std::string_view reading, bool prior) {
  const auto kind = find_reading(task, reading);
  DEEM_CHECK(kind.has_value());
  if (*kind == ReadingKind::Likelihood) {
    return likelihood_texts(*find_likelihood(task, reading), item, kit.states[item.state].text,
                            prior);
  }
  return words_texts(kit, task, item, *kind == ReadingKind::Words, prior);
}

std::string make_native_text(const kit::Kit& kit, const kit::Item& item) {
  return seat::native_text(kit.states[item.state].text, item.question);
}

std::string make_written_prompt(const kit::Kit& kit, const kit::Item& item) {
  const std::string_view state = kit.states[item.state].text;
  if (item.question.options.size() > decision::kLetters) {
    return decision::render_words(kit.layout, true, state, item.question, item.meta);
  }
  return make_letters_prompt(kit, item, state).prompts.front();
}

}  // namespace deem::bench

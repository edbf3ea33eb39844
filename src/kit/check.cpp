#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "kit/balance.h"
#include "kit/draft.h"
#include "kit/fields.h"

namespace deem::kit {
namespace {

using decision::QuestionType;

/// Two rounds of a tournament reach 52 groups of 52.
constexpr std::size_t kMostOptions = decision::kLetters * decision::kLetters;

std::string item_name(const Item& item) { return "item " + printable(item.id, 60); }

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

/// A line that could be taken for the list of options: "Options:" alone, or "[A] " at its start.
bool has_options_block(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line) == "Options:") return true;
    const bool letter = line.size() > 3 && line[0] == '[' && line[2] == ']' && line[3] == ' ' &&
                        decision::letter_index(line[1], decision::kLetters).has_value();
    if (letter) return true;
  }
  return false;
}

void check_states(Draft& draft) {
  std::unordered_map<std::string_view, std::size_t> by_id, by_sha;
  for (std::size_t i = 0; i < draft.kit.states.size(); ++i) {
    const State& state = draft.kit.states[i];
    const Origin at = draft.state_origins[i];
    const std::string what = "state " + printable(state.id, 60);
    if (state.id.empty()) draft.refuse(at, "a state has an empty id");
    if (!by_id.emplace(state.id, i).second) draft.refuse(at, what + " stands twice");
    if (state.text.empty()) draft.refuse(at, what + " is empty");
    if (has_nul(state.text)) draft.refuse(at, what + " holds a NUL character");
    if (has_options_block(state.text)) {
      draft.warn(at, what +
                         " contains an options block (a line \"Options:\" or \"[A] …\"), which a "
                         "model may take for the real one");
    }
    const auto [same, is_new] = by_sha.emplace(state.sha256, i);
    if (!is_new && by_id.at(state.id) == i) {
      draft.warn(
          at, what + " has the same text as " + printable(draft.kit.states[same->second].id, 60));
    }
    std::set<std::string_view> sections;
    for (const Section& section : state.sections) {
      if (!sections.insert(section.id).second) {
        draft.refuse(at, what + ": section " + in_quotes(section.id) + " stands twice");
      }
    }
  }
}

void check_options(Draft& draft, const Item& item, Origin at) {
  const auto& options = item.question.options;
  const std::string what = item_name(item);
  for (const std::string& problem : option_problems(options, item.question.type)) {
    draft.refuse(at, what + ": " + problem);
  }
  if (options.size() == 1 && item.question.type == QuestionType::Choice) {
    draft.warn(at, what + ": a single option, which is always right");
  }
  std::set<std::pair<std::string_view, std::string_view>> words;
  for (const decision::Option& option : options) {
    const bool is_new = words.emplace(option.description, option.own_text()).second;
    if (!is_new && !option.description.empty()) {
      draft.warn(at, what + ": option " + in_quotes(option.key) + " reads like an earlier one");
    }
  }
}

void check_label(Draft& draft, const Item& item, bool open, Origin at) {
  if (!item.label || item.question.options.empty()) return;
  const auto& options = item.question.options;
  if (std::ranges::find(options, *item.label, &decision::Option::key) != options.end()) return;
  std::vector<std::string_view> keys;
  for (const auto& option : options) keys.push_back(option.key);
  const std::string message = item_name(item) + ": label " + in_quotes(*item.label) +
                              " is no option of the item" + did_you_mean(*item.label, keys);
  if (open) {
    draft.warn(at, message + "; kept, and wrong whatever is answered");
  } else {
    draft.refuse(at, message);
  }
}

void check_words(Draft& draft, const Item& item, Origin at) {
  const std::string what = item_name(item);
  const decision::Question& question = item.question;
  if (trim(question.instructions).empty()) draft.refuse(at, what + ": nothing is asked");
  if (has_nul(question.instructions) || has_nul(question.question)) {
    draft.refuse(at, what + ": the question holds a NUL character");
  }
  if (has_options_block(question.instructions) || has_options_block(question.question)) {
    draft.warn(at, what +
                       ": the question contains an options block (a line \"Options:\" or "
                       "\"[A] …\")");
  }
}

/// Names in {meta.NAME} of a template that was accepted.
std::vector<std::string> meta_names(std::string_view text) {
  constexpr std::string_view kOpen = "{meta.";
  std::vector<std::string> names;
  for (std::size_t at = text.find(kOpen); at != std::string_view::npos;
       at = text.find(kOpen, at + 1)) {
    if (at > 0 && text[at - 1] == '{') continue;
    const std::size_t begin = at + kOpen.size();
    names.emplace_back(text.substr(begin, text.find('}', begin) - begin));
  }
  return names;
}

void check_readings(Draft& draft, const Task& task, Origin at) {
  std::set<std::string_view> seen;
  for (const LikelihoodReading& reading : task.readings) {
    const std::string what = "task " + task.name + ": reading " + in_quotes(reading.name);
    if (reading.name.empty()) draft.refuse(at, "task " + task.name + ": a reading has no name");
    if (!seen.insert(reading.name).second) draft.refuse(at, what + " stands twice");
    for (const std::string& name : meta_names(reading.given.text() + reading.score.text())) {
      const auto lacking = std::ranges::count_if(
          task.items, [&](const Item& item) { return !item.meta.contains(name); });
      if (lacking > 0) {
        draft.warn(at, what + " uses {meta." + printable(name, 40) + "}, which " +
                           std::to_string(lacking) + " items do not have");
      }
    }
  }
}

void check_labels_of_task(Draft& draft, const Task& task, Origin at) {
  const auto labelled =
      std::ranges::count_if(task.items, [](const Item& item) { return item.label.has_value(); });
  const std::size_t missing = task.items.size() - static_cast<std::size_t>(labelled);
  if (missing > 0) {
    draft.warn(at, "task " + task.name + ": " + std::to_string(missing) + " of " +
                       std::to_string(task.items.size()) + " items have no label");
  }
  const Balance balance = balance_of(task);
  if (balance.badly_unbalanced()) {
    draft.warn(at, "task " + task.name + ": gold positions are badly unbalanced: " +
                       balance.text() + "; always answering one position would look good");
  }
}

}  // namespace

std::vector<std::string> option_problems(std::span<const decision::Option> options,
                                         QuestionType type) {
  if (options.empty()) return {"no options"};
  std::vector<std::string> problems;
  if (options.size() > kMostOptions) {
    problems.push_back(std::to_string(options.size()) + " options, at most " +
                       std::to_string(kMostOptions));
  }
  if (type == QuestionType::Noul && options.size() != 2) {
    problems.push_back("noul needs exactly two options, yes then no; there are " +
                       std::to_string(options.size()));
  } else if (type == QuestionType::Score && options.size() < 2) {
    problems.push_back("score needs at least two levels");
  }
  std::set<std::string_view> keys;
  for (const decision::Option& option : options) {
    if (option.key.empty()) problems.push_back("an option key is empty");
    if (!keys.insert(option.key).second) {
      problems.push_back("option " + in_quotes(option.key) + " stands twice");
    }
    if (has_nul(option.key) || has_nul(option.description) || has_nul(option.text)) {
      problems.push_back("option " + in_quotes(option.key) + " holds a NUL character");
    }
  }
  return problems;
}

void finish_draft(Draft& draft) {
  check_states(draft);
  std::size_t items = 0;
  for (std::size_t t = 0; t < draft.kit.tasks.size(); ++t) {
    const Task& task = draft.kit.tasks[t];
    items += task.items.size();
    if (task.items.empty()) continue;
    const Origin first = draft.item_origins[t].front();
    const Origin file{first.file, 0};
    std::unordered_map<std::string_view, std::size_t> lines;
    for (std::size_t i = 0; i < task.items.size(); ++i) {
      const Item& item = task.items[i];
      const Origin at = draft.item_origins[t][i];
      if (item.id.empty()) draft.refuse(at, "an item has an empty id");
      if (const auto [twin, is_new] = lines.emplace(item.id, at.line); !is_new) {
        draft.refuse(at, item_name(item) + " stands twice in task " + task.name +
                             ", first in line " + std::to_string(twin->second));
      }
      check_options(draft, item, at);
      check_label(draft, item, draft.open_labels[t], at);
      check_words(draft, item, at);
    }
    check_readings(draft, task, file);
    check_labels_of_task(draft, task, file);
  }
  if (items == 0 && !draft.has_refusals()) draft.refuse({SIZE_MAX, 0}, "no items");
}

}  // namespace deem::kit

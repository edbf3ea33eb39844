#include <algorithm>
#include <array>

#include "base/text.h"
#include "decision/statement.h"

namespace deem::decision {
namespace {

using Set = std::span<const std::string_view>;

constexpr auto kLeadingFillers = std::to_array<std::string_view>(
    {"the",     "a",       "an",    "it",       "it s",   "s",          "is",     "its", "i",
     "think",   "believe", "would", "say",      "that",   "this",       "was",    "be",  "by",
     "section", "option",  "level", "probably", "likely", "definitely", "speaker"});
constexpr auto kTrailingFillers = std::to_array<std::string_view>(
    {"section", "option", "said", "it", "this", "that", "the", "line"});
constexpr auto kClauseStops = std::to_array<std::string_view>({"because", "since"});
constexpr auto kAfterNo = std::to_array<std::string_view>(
    {"the", "it", "this", "that", "there", "because", "since", "he", "she", "they", "we"});
constexpr auto kNotAfterYes = std::to_array<std::string_view>({"and", "or", "no", "but"});

bool has(Set set, std::string_view word) { return std::ranges::find(set, word) != set.end(); }

bool is_yes_no(std::string_view key) {
  return key == "yes" || key == "no" || key == "true" || key == "false";
}

bool ends_clause(std::string_view gap) {
  return gap.find_first_of("\n,;:.!?()[]{}<>|\"") != std::string_view::npos ||
         gap.find(" -") != std::string_view::npos;
}

}  // namespace

Phrases::Phrases(std::span<const Option> options) {
  for (const Option& option : options) {
    names_.push_back(
        {.key = normal_words(option.key),
         .description = normal_words(option.description),
         .head = normal_words(
             std::string_view(option.description).substr(0, option.description.find(','))),
         .text = normal_words(option.text)});
  }
}

std::optional<WrittenAnswer> Phrases::find_exactly(std::string_view phrase) const {
  if (phrase.empty()) return std::nullopt;
  for (const auto member : {&Names::key, &Names::description, &Names::text, &Names::head}) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].*member != phrase) continue;
      if (found) return std::nullopt;
      found = i;
    }
    if (!found) continue;
    const WrittenHow how = member != &Names::key ? WrittenHow::Words
                           : is_yes_no(phrase)   ? WrittenHow::YesNo
                                                 : WrittenHow::Key;
    return WrittenAnswer{.option = found, .how = how};
  }
  return std::nullopt;
}

std::optional<WrittenAnswer> Phrases::find(std::string_view phrase) const {
  for (std::string_view front = phrase;;) {
    for (std::string_view rest = front;;) {
      if (auto found = find_exactly(rest)) return found;
      const std::size_t space = rest.rfind(' ');
      if (space == std::string_view::npos || !has(kTrailingFillers, rest.substr(space + 1))) break;
      rest = rest.substr(0, space);
    }
    const std::size_t space = front.find(' ');
    if (space == std::string_view::npos || !has(kLeadingFillers, front.substr(0, space))) break;
    front = front.substr(space + 1);
  }
  return std::nullopt;
}

std::optional<WrittenAnswer> Phrases::find_at(std::string_view text, std::span<const Word> words,
                                              std::size_t first) const {
  constexpr std::size_t kMostWords = 40;  // longer texts are matched as the whole reply only
  if (first >= words.size()) return std::nullopt;
  const auto offset = static_cast<std::size_t>(words[first].text.data() - text.data());
  for (std::size_t i = first; i < std::min(words.size(), first + kMostWords); ++i) {
    const bool last = i + 1 == words.size();
    const bool stopped = !last && has(kClauseStops, words[i + 1].lower);
    if (!last && !stopped && !ends_clause(words[i].after)) continue;
    const auto end =
        static_cast<std::size_t>(words[i].text.data() - text.data()) + words[i].text.size();
    if (auto found = find(normal_words(text.substr(offset, end - offset)))) return found;
    if (stopped) break;
  }
  // "Yes the article does", "No it does not"; not "no idea", "yes and no".
  const std::string& word = words[first].lower;
  if (!is_yes_no(word) || first + 1 >= words.size()) return std::nullopt;
  const bool positive = word == "yes" || word == "true";
  const bool goes_on =
      positive ? !has(kNotAfterYes, words[first + 1].lower) : has(kAfterNo, words[first + 1].lower);
  return goes_on ? find_exactly(word) : std::nullopt;
}

std::optional<WrittenAnswer> Phrases::find_cut(std::string_view phrase) const {
  if (phrase.find(' ') == std::string_view::npos) return std::nullopt;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!names_[i].description.starts_with(phrase) && !names_[i].text.starts_with(phrase)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  if (!found) return std::nullopt;
  return WrittenAnswer{.option = found, .how = WrittenHow::Words};
}

}  // namespace deem::decision

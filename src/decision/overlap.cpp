#include "decision/overlap.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "base/text.h"
#include "decision/reply_text.h"

namespace deem::decision {
namespace {

using Words = std::set<std::string, std::less<>>;

constexpr auto kStopWords = std::to_array<std::string_view>(
    {"a",    "about",  "after", "all",  "an",   "and",   "any",   "are",  "as",    "at",    "be",
     "been", "before", "but",   "by",   "can",  "did",   "do",    "does", "for",   "from",  "had",
     "has",  "have",   "he",    "her",  "his",  "how",   "i",     "if",   "in",    "into",  "is",
     "it",   "its",    "me",    "my",   "no",   "not",   "of",    "on",   "or",    "s",     "she",
     "so",   "t",      "than",  "that", "the",  "their", "them",  "then", "there", "these", "they",
     "this", "those",  "to",    "up",   "was",  "we",    "were",  "what", "when",  "where", "which",
     "who",  "whom",   "whose", "why",  "will", "with",  "would", "you",  "your"});

void add_words(Words& words, std::string_view text) {
  const std::string normal = normal_words(text);
  for (const std::string_view word : split(normal, ' ')) {
    if (!word.empty() && std::ranges::find(kStopWords, word) == kStopWords.end()) {
      words.emplace(word);
    }
  }
}

std::size_t count_shared(const Words& a, const Words& b) {
  return static_cast<std::size_t>(
      std::ranges::count_if(a, [&](const std::string& word) { return b.contains(word); }));
}

}  // namespace

std::optional<OverlapChoice> overlap_choice(std::string_view state, const Question& question) {
  if (question.options.empty()) return std::nullopt;
  Words asked;
  add_words(asked, question.question.empty() ? question.instructions : question.question);
  Words known;
  add_words(known, state);

  if (question.type == QuestionType::Noul) {
    const double share = asked.empty() ? 0
                                       : static_cast<double>(count_shared(asked, known)) /
                                             static_cast<double>(asked.size());
    const std::size_t no = question.options.size() > 1 ? 1 : 0;
    return OverlapChoice{.option = share >= 0.5 ? 0 : no, .score = share};
  }

  known.insert(asked.begin(), asked.end());
  OverlapChoice best;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    const Option& option = question.options[i];
    Words own;
    for (const std::string_view part :
         {std::string_view(option.key), std::string_view(option.description),
          std::string_view(option.text)}) {
      add_words(own, part);
    }
    const auto shared = static_cast<double>(count_shared(own, option.text.empty() ? known : asked));
    if (shared > best.score) best = {.option = i, .score = shared};
  }
  return best;
}

}  // namespace deem::decision

#include "decision/statement.h"

#include <algorithm>
#include <array>

namespace deem::decision {
namespace {

using Set = std::span<const std::string_view>;

constexpr auto kAnswerCues = std::to_array<std::string_view>({"answer", "boxed"});
constexpr auto kNounCues = std::to_array<std::string_view>(
    {"option", "choice", "letter", "section", "selection", "level", "rating"});
constexpr auto kVerbCues =
    std::to_array<std::string_view>({"choose", "chose", "pick", "picked", "select", "selected"});
// Words that may stand between a cue and what is stated.
constexpr auto kConnectors = std::to_array<std::string_view>(
    {"is",     "was",    "would",    "should",    "be",      "must",    "to",    "the",
     "this",   "that",   "question", "of",        "in",      "your",    "my",    "option",
     "letter", "choice", "answer",   "section",   "correct", "best",    "right", "final",
     "most",   "likely", "probably", "therefore", "here",    "clearly", "level"});
constexpr auto kNegations = std::to_array<std::string_view>(
    {"not", "neither", "nor", "isn't", "wasn't", "cannot", "can't", "don't", "doesn't", "didn't",
     "wouldn't", "won't", "never", "without", "no"});
// Words that a lone capital letter may be the subject of.
constexpr auto kPredicates =
    std::to_array<std::string_view>({"is", "because", "since", "was", "would", "seems"});
// Words after which a last capital letter is what is meant.
constexpr auto kLeadIns = std::to_array<std::string_view>(
    {"is", "it's", "so", "therefore", "thus", "hence", "but", "be", "say"});
constexpr auto kAlternatives = std::to_array<std::string_view>({"or", "and", "and/or"});

bool has(Set set, std::string_view word) { return std::ranges::find(set, word) != set.end(); }

bool contains_any(std::string_view gap, std::string_view characters) {
  return gap.find_first_of(characters) != std::string_view::npos;
}

bool is_letter_word(const Word& word) {
  const char c = word.text[0];
  return word.text.size() == 1 && ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) &&
         (word.after.empty() || !contains_any(word.after.substr(0, 1), "+#%@&=/\\")) &&
         (word.before.empty() ||
          !contains_any(word.before.substr(word.before.size() - 1), "/\\&@+"));
}

/// "(B)", "[B]", "**B**", "\"B\"", "`B`".
bool is_wrapped(const Word& word) {
  return !word.before.empty() && !word.after.empty() &&
         contains_any(word.before.substr(word.before.size() - 1), "([{<\"'*_`$") &&
         contains_any(word.after.substr(0, 1), ")]}>\"'*_`$");
}

/// How a letter is led up to.
enum class Lead { None, Answer, Noun, Verb };

class Finder {
 public:
  Finder(std::string_view text, std::span<const Word> words, const Phrases& phrases,
         std::size_t letters)
      : text_(text), words_(words), phrases_(phrases), letters_(letters) {}

  std::vector<Statement> run() {
    at_line_starts();
    behind_cues();
    wrapped();
    at_the_end();
    return std::move(found_);
  }

 private:
  /// Whether the letter word at `i` is meant as a letter, by what stands behind it: not the
  /// article of "A good question", not the pronoun of "I think".
  bool is_statement(std::size_t i, Lead lead, bool adjacent) const {
    const Word& word = words_[i];
    if (!is_letter_word(word)) return false;
    const char c = word.text[0];
    const bool upper = c <= 'Z';
    if (is_wrapped(word) || (!word.after.empty() && contains_any(word.after.substr(0, 1), ")]"))) {
      return true;
    }
    const bool spaces_only = word.after.find_first_not_of(" \t") == std::string_view::npos;
    if (i + 1 == words_.size()) return true;
    if (!spaces_only) {
      if (lead != Lead::None) return true;
      const bool comma = word.after[0] == ',';
      return !(comma && (!upper || c == 'I'));
    }
    if (const auto own = phrases_.find_at(text_, words_, i + 1)) {
      return own->option == letter_any_case(c, letters_);
    }
    if (!upper || c == 'I') return false;
    if (has(kPredicates, words_[i + 1].lower)) return true;
    if (lead == Lead::None) return false;
    return c != 'A' || (adjacent && lead == Lead::Noun);
  }

  bool is_negated(std::size_t i) const { return i > 0 && has(kNegations, words_[i - 1].lower); }

  /// "A or B", "A, B": another letter follows as an alternative.
  bool has_alternative(std::size_t i) const {
    if (i + 1 < words_.size() && contains_any(words_[i].after, ",&/") &&
        words_[i].after.find('\n') == std::string_view::npos && is_letter_word(words_[i + 1]) &&
        words_[i + 1].text[0] != 'I' && words_[i + 1].text[0] != 'a') {
      return true;
    }
    if (i + 2 >= words_.size() || !has(kAlternatives, words_[i + 1].lower)) return false;
    std::size_t next = i + 2;
    while (next + 1 < words_.size() && has(kNounCues, words_[next].lower)) ++next;
    return is_letter_word(words_[next]);
  }

  void add_letter(std::size_t i, WrittenHow how, bool after_answer) {
    Statement statement{.option = letter_any_case(words_[i].text[0], letters_),
                        .how = how,
                        .after_answer = after_answer,
                        .at = i};
    if (has_alternative(i)) statement.option.reset();
    found_.push_back(statement);
  }

  void add(const WrittenAnswer& answer, bool after_answer, std::size_t i) {
    found_.push_back(
        {.option = answer.option, .how = answer.how, .after_answer = after_answer, .at = i});
  }

  /// The first words of the reply, and lettered lines below it.
  void at_line_starts() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (i > 0 && words_[i].before.find('\n') == std::string_view::npos) continue;
      const bool marked = i + 1 == words_.size() || contains_any(words_[i].after, ")].:\n");
      if ((i == 0 || marked) && is_statement(i, Lead::None, false)) {
        add_letter(i, WrittenHow::Letter, false);
        // "A) No" where A is yes states two things.
        const bool fused = words_[i].after.find_first_not_of(" \t") == std::string_view::npos;
        if (fused) continue;
        if (const auto said = phrases_.find_at(text_, words_, i + 1)) add(*said, false, i + 1);
      } else if (i == 0) {
        if (const auto said = phrases_.find_at(text_, words_, 0)) add(*said, false, 0);
      }
    }
  }

  void behind_cues() {
    for (std::size_t i = 0; i + 1 < words_.size(); ++i) {
      const std::string& cue = words_[i].lower;
      const bool answer = has(kAnswerCues, cue);
      const Lead lead = answer                ? Lead::Answer
                        : has(kNounCues, cue) ? Lead::Noun
                        : has(kVerbCues, cue) ? Lead::Verb
                                              : Lead::None;
      if (lead == Lead::None || is_negated(i)) continue;
      if (contains_any(words_[i].after, ".?!")) continue;
      if (const auto said = phrases_.find_at(text_, words_, i + 1); said && lead != Lead::Noun) {
        add(*said, answer, i + 1);
        continue;
      }
      stated_behind(i, lead);
    }
  }

  void stated_behind(std::size_t cue, Lead lead) {
    constexpr std::size_t kMostConnectors = 8;
    const bool answer = lead == Lead::Answer;
    for (std::size_t i = cue + 1; i < std::min(words_.size(), cue + 2 + kMostConnectors); ++i) {
      if (is_statement(i, lead, i == cue + 1)) {
        add_letter(i, WrittenHow::StatedLetter, answer);
        return;
      }
      if (i > cue + 1 || lead == Lead::Noun) {
        const bool told =
            contains_any(words_[i].before, ":=\"") || has(kConnectors, words_[i - 1].lower);
        if (const auto said = phrases_.find_at(text_, words_, i); said && told) {
          add(*said, answer, i);
          return;
        }
      }
      if (!has(kConnectors, words_[i].lower) || contains_any(words_[i].after, ".?!,;")) return;
    }
  }

  void wrapped() {
    for (std::size_t i = 1; i < words_.size(); ++i) {
      const Word& word = words_[i];
      const bool capital = word.text[0] <= 'Z' || letters_ > 26;
      if (is_letter_word(word) && is_wrapped(word) && capital && !is_negated(i)) {
        add_letter(i, WrittenHow::StatedLetter, false);
      }
    }
  }

  void at_the_end() {
    if (words_.size() < 2) return;
    const std::size_t i = words_.size() - 1;
    const Word& word = words_[i];
    if (!is_letter_word(word) || word.text[0] > 'Z' || is_negated(i)) return;
    const bool set_off =
        contains_any(word.before, ",:;\n") || word.before.find(" -") != std::string_view::npos;
    const bool led = has(kLeadIns, words_[i - 1].lower) && word.text[0] != 'I';
    if (set_off || led) add_letter(i, WrittenHow::StatedLetter, false);
  }

  std::string_view text_;
  std::span<const Word> words_;
  const Phrases& phrases_;
  std::size_t letters_;
  std::vector<Statement> found_;
};

}  // namespace

std::optional<std::size_t> letter_any_case(char c, std::size_t letters) {
  if (const auto exact = letter_index(c, letters)) return exact;
  return c >= 'a' && c <= 'z' ? letter_index(static_cast<char>(c - 'a' + 'A'), letters)
                              : std::nullopt;
}

std::vector<Statement> find_statements(std::string_view text, std::span<const Word> words,
                                       const Phrases& phrases, std::size_t letters) {
  return Finder(text, words, phrases, letters).run();
}

}  // namespace deem::decision

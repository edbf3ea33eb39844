#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decision/question.h"
#include "decision/reply_text.h"
#include "decision/written.h"

namespace deem::decision {

/// One place of a reply where an option is stated; `option` none: something is stated that is no
/// single option ("Answer: Z", "Answer: A or B").
struct Statement {
  std::optional<std::size_t> option;
  WrittenHow how = WrittenHow::Unparsed;
  bool after_answer = false;  // behind the word "answer" or a LaTeX box
  std::size_t at = 0;         // index of its word
};

/// Finds options named by their own words.
class Phrases {
 public:
  explicit Phrases(std::span<const Option> options);

  /// The one option whose key, description, own text, or description up to its first comma equals
  /// `phrase`, phrases like "I think it is the …" stripped. None when several do.
  std::optional<WrittenAnswer> find(std::string_view phrase) const;

  /// The same for the words from `first` up to the end of a clause, each clause in turn. "yes" and
  /// "no" also count with more words behind them ("Yes the article does").
  std::optional<WrittenAnswer> find_at(std::string_view text, std::span<const Word> words,
                                       std::size_t first) const;

  /// The one option of which the whole reply is the beginning (a reply cut by its token limit);
  /// at least two words.
  std::optional<WrittenAnswer> find_cut(std::string_view phrase) const;

 private:
  struct Names {
    std::string key, description, head, text;  // normal_words of each
  };
  std::optional<WrittenAnswer> find_exactly(std::string_view phrase) const;
  std::vector<Names> names_;
};

/// Every statement in `text`, in the order found.
std::vector<Statement> find_statements(std::string_view text, std::span<const Word> words,
                                       const Phrases& phrases, std::size_t letters);

/// The letter's option: upper and lower case are different letters where both are in use, else
/// case does not matter.
std::optional<std::size_t> letter_any_case(char c, std::size_t letters);

}  // namespace deem::decision

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deem::decision {

/// noul: is this statement true (options yes, no; true always first). choice: one of n options.
/// score: ordered levels, lowest first.
enum class QuestionType { Noul, Choice, Score };

std::string_view to_string(QuestionType type);
std::optional<QuestionType> parse_question_type(std::string_view name);

/// One option as it is listed. `text` is the option's own text for readings by likelihood (for a
/// section: heading and body); empty means: description, or the key when that is empty too.
struct Option {
  std::string key = {};
  std::string description = {};
  std::string text = {};

  std::string_view own_text() const {
    return !text.empty() ? text : !description.empty() ? description : key;
  }
  /// What the option is called in words: its description, or the key when that is empty.
  std::string_view words() const { return description.empty() ? key : description; }
  bool operator==(const Option&) const = default;
};

/// One decision as the model sees it. `question` is the item's bare question (or line, or
/// message) where it differs from the full `instructions`; templates may name either.
struct Question {
  QuestionType type = QuestionType::Choice;
  std::string instructions = {};
  std::string question = {};
  std::vector<Option> options = {};
};

/// How many options one prompt can letter: A–Z then a–z.
inline constexpr std::size_t kLetters = 52;

/// The letter of option `i`. Requires i < kLetters.
char letter(std::size_t i);

/// The option index of `c` among the first `n` letters, or none.
std::optional<std::size_t> letter_index(char c, std::size_t n);

}  // namespace deem::decision

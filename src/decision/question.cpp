#include "decision/question.h"

#include "base/check.h"

namespace deem::decision {

std::string_view to_string(QuestionType type) {
  switch (type) {
    case QuestionType::Noul:
      return "noul";
    case QuestionType::Choice:
      return "choice";
    case QuestionType::Score:
      return "score";
  }
  DEEM_CHECK(false);
}

std::optional<QuestionType> parse_question_type(std::string_view name) {
  for (const auto type : {QuestionType::Noul, QuestionType::Choice, QuestionType::Score}) {
    if (name == to_string(type)) return type;
  }
  return std::nullopt;
}

char letter(std::size_t i) {
  DEEM_CHECK(i < kLetters);
  return static_cast<char>(i < 26 ? 'A' + static_cast<int>(i) : 'a' + static_cast<int>(i - 26));
}

std::optional<std::size_t> letter_index(char c, std::size_t n) {
  std::size_t i = kLetters;
  if (c >= 'A' && c <= 'Z') i = static_cast<std::size_t>(c - 'A');
  if (c >= 'a' && c <= 'z') i = static_cast<std::size_t>(c - 'a') + 26;
  if (i >= kLetters || i >= n) return std::nullopt;
  return i;
}

}  // namespace deem::decision

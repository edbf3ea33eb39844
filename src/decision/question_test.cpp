#include "decision/question.h"

#include <gtest/gtest.h>

namespace deem::decision {
namespace {

TEST(Letters, RunFromCapitalAToSmallZ) {
  EXPECT_EQ(letter(0), 'A');
  EXPECT_EQ(letter(25), 'Z');
  EXPECT_EQ(letter(26), 'a');
  EXPECT_EQ(letter(51), 'z');
  for (std::size_t i = 0; i < kLetters; ++i) EXPECT_EQ(letter_index(letter(i), kLetters), i);
}

TEST(Letters, OutsideTheFirstNAreNone) {
  EXPECT_EQ(letter_index('C', 2), std::nullopt);
  EXPECT_EQ(letter_index('a', 26), std::nullopt);
  EXPECT_EQ(letter_index('a', 27), 26U);
  EXPECT_EQ(letter_index('1', kLetters), std::nullopt);
  EXPECT_EQ(letter_index('[', kLetters), std::nullopt);  // between Z and a in ASCII
  EXPECT_EQ(letter_index('\xc3', kLetters), std::nullopt);
  EXPECT_EQ(letter_index('A', 0), std::nullopt);
}

TEST(QuestionType, NamesReadBack) {
  for (const auto type : {QuestionType::Noul, QuestionType::Choice, QuestionType::Score}) {
    EXPECT_EQ(parse_question_type(to_string(type)), type);
  }
  EXPECT_EQ(to_string(QuestionType::Noul), "noul");
  EXPECT_EQ(parse_question_type("predicate"), std::nullopt);
}

TEST(Option, OwnTextFallsBackToDescriptionThenKey) {
  EXPECT_EQ((Option{"k", "d", "t"}.own_text()), "t");
  EXPECT_EQ((Option{"k", "d", ""}.own_text()), "d");
  EXPECT_EQ((Option{"k", "", ""}.own_text()), "k");
}

}  // namespace
}  // namespace deem::decision

#include "score/answer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace deem::score {
namespace {

using record::ReadingRecord;
using record::Row;

Row row_of(std::size_t options, decision::QuestionType type = decision::QuestionType::Choice) {
  Row row;
  row.type = type;
  for (std::size_t i = 0; i < options; ++i) row.keys.push_back("k" + std::to_string(i));
  return row;
}

ReadingRecord::Round round_of(std::size_t first, std::vector<double> logprobs) {
  ReadingRecord::Round round;
  for (std::size_t i = 0; i < logprobs.size(); ++i) {
    round.options.push_back(first + i);
    round.letters.logprobs.emplace_back(logprobs[i]);
  }
  return round;
}

// published vectors: softmax at T = 0.85 of [-.3, -1.6, -4.2].
TEST(AnswerOf, LettersAreASoftmaxAtTheRowsTemperature) {
  ReadingRecord reading;
  reading.rounds = {round_of(0, {-0.3, -1.6, -4.2})};
  const auto answer = answer_of(row_of(3), reading, "raw");
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->probs[0], 0.8151, 5e-5);
  EXPECT_NEAR(answer->probs[1], 0.1766, 5e-5);
  EXPECT_NEAR(answer->probs[2], 0.0083, 5e-5);
  EXPECT_EQ(answer->choice, 0U);
}

// published vectors: noul of (-.10, -2.60).
TEST(AnswerOf, NoulTakesSlopeAndBias) {
  ReadingRecord reading;
  reading.rounds = {round_of(0, {-0.10, -2.60})};
  const auto answer = answer_of(row_of(2, decision::QuestionType::Noul), reading, "raw");
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->probs[0], 0.833135, 5e-7);
  EXPECT_NEAR(answer->probs[1], 1 - 0.833135, 5e-7);
}

// published vectors: logits [1,.2,2,-1], T = 1, groups of 2, as the flat softmax.
TEST(AnswerOf, ATournamentIsTheFlatSoftmaxWhereLogitsDoNotDependOnContext) {
  Row row = row_of(4);
  row.constants.temperature = 1;
  ReadingRecord reading;
  auto final_round = round_of(0, {1, 2});
  final_round.options = {0, 2};
  reading.rounds = {round_of(0, {1, 0.2}), round_of(2, {2, -1}), final_round};
  const auto answer = answer_of(row, reading, "raw");
  ASSERT_TRUE(answer);
  const double want[] = {0.232399, 0.104424, 0.631726, 0.031452};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(answer->probs[i], want[i], 5e-7);
  EXPECT_EQ(answer->choice, 2U);
}

TEST(AnswerOf, APriorIsSubtractedFromTheLetters) {
  Row row = row_of(2);
  row.constants.temperature = 1;
  ReadingRecord reading;
  reading.rounds = {round_of(0, {-0.5, -1.0})};
  reading.prior_rounds = {{round_of(0, {-0.5, -2.0})}};
  EXPECT_EQ(answer_of(row, reading, "raw")->choice, 0U);
  const auto answer = answer_of(row, reading, "prior");
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->probs[1], 1 / (1 + std::exp(-1.0)), 1e-12);  // logits 0 and 1
}

TEST(AnswerOf, TextsComeSummedPerTokenPerByteAndLessTheirPrior) {
  ReadingRecord reading;
  reading.kind = ReadingRecord::Kind::Texts;
  reading.texts = {{-6, 3, 30}, {-5, 1, 5}};  // sums: b; means -2, -5: a; bytes -.2, -1: a
  reading.priors = {decision::TextScore{-6, 3, 30}, decision::TextScore{-2, 1, 5}};  // 0, -3: a
  const Row row = row_of(2);
  EXPECT_EQ(answer_of(row, reading, "raw-sum")->choice, 1U);
  EXPECT_EQ(answer_of(row, reading, "raw-mean")->choice, 0U);
  EXPECT_EQ(answer_of(row, reading, "raw-bytes")->choice, 0U);
  const auto prior = answer_of(row, reading, "prior-sum");
  EXPECT_EQ(prior->choice, 0U);
  EXPECT_NEAR(prior->probs[0], 1 / (1 + std::exp(-3.0)), 1e-12);
}

TEST(AnswerOf, OneTextOfANoulIsABareScore) {
  ReadingRecord reading;
  reading.kind = ReadingRecord::Kind::Texts;
  reading.texts = {{-6, 3, 30}};
  reading.priors = {decision::TextScore{-8, 3, 30}};
  const auto answer = answer_of(row_of(2, decision::QuestionType::Noul), reading, "prior-sum");
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->probs.empty());
  EXPECT_EQ(answer->score, 2.0);
}

TEST(AnswerOf, LessItsPriorALetterThatWasNotSeenIsNoAnswer) {
  ReadingRecord reading;
  reading.rounds = {round_of(0, {-0.3, -1.6})};
  reading.rounds[0].letters.logprobs[1] = std::nullopt;
  reading.rounds[0].letters.bound = -4;
  reading.prior_rounds = {round_of(0, {-0.1, -6})};
  const auto raw = answer_of(row_of(2), reading, "raw");
  ASSERT_TRUE(raw);
  EXPECT_EQ(raw->choice, 0u);
  EXPECT_FALSE(answer_of(row_of(2), reading, "prior"));  // -0.2 against at most 2
  reading.prior_rounds = {round_of(0, {-0.1, -3})};
  const auto prior = answer_of(row_of(2), reading, "prior");
  ASSERT_TRUE(prior);  // -0.2 against at most -1
  EXPECT_EQ(prior->choice, 0u);
}

ReadingRecord native_of(std::vector<std::optional<double>> probs,
                        std::optional<std::size_t> choice = {}) {
  ReadingRecord reading;
  reading.kind = ReadingRecord::Kind::Native;
  reading.native = {.present = true, .probs = std::move(probs), .choice = choice};
  return reading;
}

TEST(AnswerOf, NativeProbabilitiesAreTheEndpointsOwnWhateverTheRowsConstants) {
  Row row = row_of(3);
  row.constants.temperature = 7;
  const auto rounded = answer_of(row, native_of({0.33, 0.33, 0.33}, 2), "raw");
  ASSERT_TRUE(rounded);
  EXPECT_EQ(rounded->choice, 2U);  // picked before rounding made all three equal
  EXPECT_NEAR(rounded->probs[0], 1.0 / 3, 1e-8);
  const auto noul = answer_of(row_of(2, decision::QuestionType::Noul), native_of({0.81}), "raw");
  ASSERT_TRUE(noul);
  EXPECT_NEAR(noul->probs[0], 0.81, 1e-12);
  EXPECT_NEAR(noul->probs[1], 0.19, 1e-12);
  EXPECT_EQ(variants_of(native_of({0.81})), (std::vector<std::string>{"raw"}));
  EXPECT_FALSE(answer_of(row, native_of({0.2, 0.3, 0.5}), "prior"));
  EXPECT_FALSE(answer_of(row, native_of({0.2, 0.3}), "raw"));
}

TEST(ScoresOf, ANativeAnswersAreLogsHeldAtHalfTheStepItWasPrintedIn) {
  const auto scores = scores_of(row_of(3), native_of({0.0, 0.25, 0.75}, 2), "raw");
  ASSERT_TRUE(scores);
  EXPECT_NEAR((*scores)[0], std::log(0.005), 1e-12);
  EXPECT_NEAR((*scores)[1], std::log(0.25), 1e-12);
  EXPECT_NEAR((*scores)[2], std::log(0.75), 1e-8);
}

TEST(AnswerOf, NothingComesFromAVoidAFailedOrAnUnparsedReading) {
  ReadingRecord letters;
  letters.rounds = {round_of(0, {-0.3, -1.6})};
  letters.cause = decision::VoidCause::LowLabelMass;
  EXPECT_FALSE(answer_of(row_of(2), letters, "raw"));
  letters.cause = decision::VoidCause::None;
  letters.error = "HTTP 500";
  EXPECT_FALSE(answer_of(row_of(2), letters, "raw"));
  ReadingRecord written;
  written.kind = ReadingRecord::Kind::Written;
  EXPECT_FALSE(answer_of(row_of(2), written, "raw"));
}

}  // namespace
}  // namespace deem::score

#include "decision/native.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "decision/readout.h"

namespace deem::decision {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Probs = std::vector<std::optional<double>>;

NativeAnswer answer(Probs probs, std::optional<std::size_t> choice = std::nullopt) {
  return {.present = true, .probs = std::move(probs), .choice = choice};
}

struct JudgeCase {
  const char* name;
  NativeAnswer answer;
  QuestionType type;
  std::size_t n;
  VoidCause want;
};
class JudgeNative : public testing::TestWithParam<JudgeCase> {};

TEST_P(JudgeNative, NamesTheCause) {
  const auto& [name, given, type, n, want] = GetParam();
  EXPECT_EQ(to_string(judge_native(given, type, n, 0.05)), to_string(want));
}

NativeAnswer with_mass(double mass) {
  NativeAnswer out = answer({0.25, 0.75}, 1);
  out.label_mass = mass;
  return out;
}

NativeAnswer naming_none() {
  NativeAnswer out = answer({0.25, 0.75});
  out.names_no_option = true;
  return out;
}

constexpr auto kNoul = QuestionType::Noul;
constexpr auto kChoice = QuestionType::Choice;
constexpr auto kScore = QuestionType::Score;

INSTANTIATE_TEST_SUITE_P(
    Table, JudgeNative,
    testing::Values(
        // Shapes of public recordings (facts of System One, 1.1).
        JudgeCase{"NoulOfOneNumber", answer({0.81}), kNoul, 2, VoidCause::None},
        JudgeCase{"NoulOfZero", answer({0.0}), kNoul, 2, VoidCause::None},
        JudgeCase{"NoulOfBoth", answer({0.4, 0.6}), kNoul, 2, VoidCause::None},
        JudgeCase{"FourLevels", answer({0.0, 0.04, 0.75, 0.21}), kScore, 4, VoidCause::None},
        JudgeCase{"OneHot", answer({1.0, 0.0, 0.0}, 0), kChoice, 3, VoidCause::None},
        JudgeCase{"ThirdsRoundToNinetyNine", answer({0.33, 0.33, 0.33}, 2), kChoice, 3,
                  VoidCause::None},
        // 22 options of 0.0454…: 22 × .05 = 1.1, which rounding alone explains.
        JudgeCase{"ManyRoundedUp", answer(Probs(22, 0.05)), kChoice, 22, VoidCause::None},
        JudgeCase{"ChoiceWithinThePrintedStep", answer({0.34, 0.33, 0.33}, 1), kChoice, 3,
                  VoidCause::None},
        JudgeCase{"ExactMass", with_mass(0.05), kChoice, 2, VoidCause::None},
        JudgeCase{"Absent", {}, kChoice, 2, VoidCause::NoAnswer},
        JudgeCase{"Declined", {.declined = true}, kChoice, 2, VoidCause::Declined},
        JudgeCase{"NoProbabilities", answer({}, 0), kChoice, 2, VoidCause::MissingOption},
        JudgeCase{"OneOfTwoChoices", answer({0.9}), kChoice, 2, VoidCause::MissingOption},
        JudgeCase{"NullOption", answer({0.9, std::nullopt}), kChoice, 2, VoidCause::MissingOption},
        JudgeCase{"NaN", answer({kNaN, 0.5}), kChoice, 2, VoidCause::NotANumber},
        JudgeCase{"NoulOfNaN", answer({kNaN}), kNoul, 2, VoidCause::NotANumber},
        JudgeCase{"Negative", answer({-0.1, 1.0}), kChoice, 2, VoidCause::NotAProbability},
        JudgeCase{"OverOne", answer({1.2, 0.0}), kChoice, 2, VoidCause::NotAProbability},
        JudgeCase{"Percent", answer({81.0}), kNoul, 2, VoidCause::NotAProbability},
        JudgeCase{"SumTooSmall", answer({0.5, 0.4}), kChoice, 2, VoidCause::SumNotOne},
        JudgeCase{"SumTooLarge", answer({0.6, 0.5}), kChoice, 2, VoidCause::SumNotOne},
        JudgeCase{"AllZero", answer(Probs(300, 0.0)), kChoice, 300, VoidCause::SumNotOne},
        JudgeCase{"NamesAnother", answer({0.1, 0.9}, 0), kChoice, 2, VoidCause::ChoiceDiffers},
        JudgeCase{"NamesNone", naming_none(), kChoice, 2, VoidCause::ChoiceDiffers},
        JudgeCase{"HardlyAnyMass", with_mass(0.049), kChoice, 2, VoidCause::LowLabelMass},
        JudgeCase{"MassOfNaN", with_mass(kNaN), kChoice, 2, VoidCause::LowLabelMass}),
    [](const auto& p) { return p.param.name; });

TEST(PrintedStep, IsTheLargestAllAreMultiplesOf) {
  const auto step = [](std::vector<double> probs) { return printed_step(probs); };
  EXPECT_DOUBLE_EQ(step({0.81}), 0.01);
  EXPECT_DOUBLE_EQ(step({1, 0}), 0.01);
  EXPECT_DOUBLE_EQ(step({0.04, 0.75, 0.21}), 0.01);
  EXPECT_DOUBLE_EQ(step({0.833, 0.167}), 0.001);
  EXPECT_DOUBLE_EQ(step({0.8331, 0.1669}), 0.0001);
  EXPECT_DOUBLE_EQ(step({0.833135, 0.166865}), 0.000001);
  EXPECT_DOUBLE_EQ(step({1.0 / 3, 2.0 / 3}), 0.000001);
}

TEST(NativeProbs, SumToOneAndKeepTheChoiceFirst) {
  EXPECT_EQ(native_probs(std::vector<double>{0.25}, {}, 2), (std::vector<double>{0.25, 0.75}));
  const auto rounded = native_probs(std::vector<double>{0.5, 0.3, 0.19}, {}, 3);
  EXPECT_NEAR(rounded[0], 0.5 / 0.99, 1e-12);
  EXPECT_NEAR(rounded[0] + rounded[1] + rounded[2], 1, 1e-12);
  // Rounding made two of them equal; the one named was picked before it.
  const auto tied = native_probs(std::vector<double>{0.34, 0.34, 0.32}, 1, 3);
  EXPECT_EQ(argmax(tied), 1U);
  EXPECT_NEAR(tied[0], 0.34, 1e-8);
  EXPECT_EQ(argmax(native_probs(std::vector<double>{0.34, 0.33, 0.33}, 2, 3)), 2U);
}

TEST(NativeScores, AreLogsWithWhatWasRoundedAwayAtHalfTheStep) {
  const auto exact = native_scores(std::vector<double>{0.2, 0.3, 0.5}, {}, 3);
  EXPECT_NEAR(exact[0], std::log(0.2), 1e-12);
  EXPECT_NEAR(exact[2], std::log(0.5), 1e-12);
  const auto hot = native_scores(std::vector<double>{0.0, 1.0}, 1, 2);
  EXPECT_NEAR(hot[0], std::log(0.005), 1e-12);
  EXPECT_NEAR(hot[1], 0, 1e-8);
  const auto sure = native_scores(std::vector<double>{1.0}, {}, 2);
  EXPECT_NEAR(sure[1], std::log(0.005), 1e-12);
}

}  // namespace
}  // namespace deem::decision

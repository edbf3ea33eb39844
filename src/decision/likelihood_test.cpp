#include "decision/likelihood.h"

#include <gtest/gtest.h>

#include <limits>

namespace deem::decision {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct TextCase {
  const char* name;
  std::vector<TextScore> texts;
  std::vector<std::optional<TextScore>> priors;
  VoidCause want;
};
class JudgeTexts : public testing::TestWithParam<TextCase> {};

TEST_P(JudgeTexts, NamesTheCause) {
  EXPECT_EQ(judge_texts(GetParam().texts, GetParam().priors), GetParam().want);
}

const TextScore kGood = {-7.5, 3, 9};

INSTANTIATE_TEST_SUITE_P(
    Table, JudgeTexts,
    testing::Values(TextCase{"Good", {kGood, kGood}, {kGood, std::nullopt}, VoidCause::None},
                    TextCase{"NoText", {}, {}, VoidCause::NoLogprobs},
                    TextCase{"NoToken", {kGood, {0, 0, 0}}, {}, VoidCause::NoLogprobs},
                    TextCase{"Nan", {kGood, {kNan, 1, 1}}, {}, VoidCause::NotANumber},
                    TextCase{"NanPrior", {kGood}, {TextScore{kNan, 1, 1}}, VoidCause::NotANumber},
                    TextCase{"Impossible", {{-kInfinity, 1, 1}}, {}, VoidCause::NotFinite},
                    TextCase{"Sentinel", {{-10003.2, 4, 9}}, {}, VoidCause::SentinelLogprob},
                    TextCase{
                        "LongTextMayBeVeryUnlikely", {{-10003.2, 2500, 9000}}, {}, VoidCause::None},
                    TextCase{"AboveOne", {{.5, 2, 3}}, {}, VoidCause::ProbabilityAboveOne},
                    TextCase{"RoundingAboveOne", {{1e-7, 2, 3}}, {}, VoidCause::None},
                    TextCase{"AllZero", {{0, 2, 3}, {-0.0, 1, 3}}, {}, VoidCause::AllZeroLogprobs},
                    TextCase{"OneSureToken", {{0, 1, 3}}, {}, VoidCause::None},
                    TextCase{"OneSureText", {{0, 2, 3}, kGood}, {}, VoidCause::None}),
    [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace deem::decision

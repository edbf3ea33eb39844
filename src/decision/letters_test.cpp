#include "decision/letters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "decision/first_positions.h"
#include "decision/spelling.h"

namespace deem::decision {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
TEST(ReadLetters, TheDeepPairIsRefusedOnItsMass) {
  // published vectors: a plausible .61 out of two tokens with a total mass of about 3e-6.
  EXPECT_EQ(cause(exactly({-13.2, -13.9})), VoidCause::LowLabelMass);
  EXPECT_EQ(cause(listed({entry("ok", -.01), entry("A", -13.2), entry("B", -13.9)})),
            VoidCause::LowLabelMass);
}

TEST(ReadLetters, TheMassThresholdIsTheRules) {
  const auto position = listed({entry("ok", -.7), entry("A", std::log(.2)), entry("B", -5)});
  EXPECT_EQ(read_letters(position, 2, {.min_mass = .05}).cause, VoidCause::None);
  EXPECT_EQ(read_letters(position, 2, {.min_mass = .5}).cause, VoidCause::LowLabelMass);
  EXPECT_EQ(read_letters(position, 2, {.min_mass = kNan}).cause, VoidCause::LowLabelMass);
}

// One list under each policy. Probabilities: A .4 and .1, " A" .2, "B" .05, U+2581 B .1.
FirstPosition look_alikes() {
  return listed({entry("A", std::log(.4), 32), entry(" A", std::log(.2), 362),
                 entry("A", std::log(.1), 9001),
                 entry("\xe2\x96\x81"
                       "B",
                       std::log(.1), 425),
                 entry("B", std::log(.05), 33)});
}

struct PolicyCase {
  LetterPolicy policy;
  double a, b, outside;
};
class Policies : public testing::TestWithParam<PolicyCase> {};

TEST_P(Policies, SumWhatTheySay) {
  const auto& c = GetParam();
  const auto reading = read_letters(look_alikes(), 2, {.policy = c.policy});
  EXPECT_EQ(reading.cause, VoidCause::None);
  EXPECT_NEAR(std::exp(*reading.logprobs[0]), c.a, 1e-12);
  EXPECT_NEAR(std::exp(*reading.logprobs[1]), c.b, 1e-12);
  EXPECT_NEAR(reading.mass_letters, c.a + c.b, 1e-12);
  EXPECT_NEAR(*reading.mass_outside, c.outside, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Table, Policies,
                         testing::Values(PolicyCase{LetterPolicy::Exact, .4, .05, .4},
                                         PolicyCase{LetterPolicy::SumExact, .5, .05, .3},
                                         PolicyCase{LetterPolicy::Fold, .7, .15, 0}),
                         [](const auto& p) {
                           return p.param.policy == LetterPolicy::Exact  ? "Exact"
                                  : p.param.policy == LetterPolicy::Fold ? "Fold"
                                                                         : "SumExact";
                         });

TEST(ReadLetters, ExactTakesTheLikelierOfTwoSpellingsInAnyOrder) {
  const auto reading = read_letters(listed({entry("A", -2.0, 1), entry("A", -.5, 2)}), 1, {});
  EXPECT_EQ(reading.logprobs[0], -.5);
}

TEST(ReadLetters, FoldKnowsTheMarksOfTokenizers) {
  for (const char* token : {" A",
                            "\xc4\xa0"
                            "A",
                            "\xe2\x96\x81"
                            "A",
                            "A\n",
                            "\xc4\x8a"
                            "A",
                            "\xc2\xa0"
                            "A"}) {
    EXPECT_TRUE(
        read_letters(listed({entry(token, -.5)}), 1, {.policy = LetterPolicy::Fold}).logprobs[0])
        << token;
  }
  const auto lower = read_letters(listed({entry(" a", -.5)}), 2, {.policy = LetterPolicy::Fold});
  EXPECT_EQ(lower.cause, VoidCause::NoLetterSeen);  // "a" is another letter, not a look-alike
}

TEST(ReadLetters, OneIdTwiceIsOneEntry) {
  // vLLM with logprob_token_ids: the sampled token first, then every id asked for.
  const auto reading =
      read_letters(listed({entry("B", -.2, 33), entry("A", -1.9, 32), entry("B", -.2, 33)}), 2,
                   {.policy = LetterPolicy::SumExact});
  EXPECT_EQ(reading.cause, VoidCause::None);
  EXPECT_NEAR(*reading.logprobs[1], -.2, 1e-15);
}

TEST(ReadLetters, ASampledTokenOutsideTheListIsAnEntry) {
  FirstPosition position = listed({entry("The", -.2)});
  position.sampled = entry("B", -1.7);
  const auto reading = read_letters(position, 2, {});
  EXPECT_EQ(reading.logprobs, (Logprobs{std::nullopt, -1.7}));
  EXPECT_EQ(reading.top_token, "B");
}

TEST(ReadLetters, ExactReadingsAreUsedAsTheyAre) {
  const auto reading =
      read_letters(exactly({-.5, std::nullopt}, {entry("A", -.7, 32), entry(" A", -2, 362)}), 2,
                   {.policy = LetterPolicy::Fold});
  EXPECT_EQ(reading.cause, VoidCause::None);
  EXPECT_EQ(reading.logprobs, (Logprobs{-.5, std::nullopt}));
  EXPECT_NEAR(*reading.bound, -0.9327521295671886, 1e-15);  // log(1 - e^-.5)
  EXPECT_NEAR(*reading.mass_outside, 1 - std::exp(-.5), 1e-15);
  EXPECT_EQ(reading.top_token, "A");
}

TEST(ReadLetters, ExactReadingsOfAnotherLengthDoNotCrash) {
  EXPECT_EQ(read_letters(exactly({-.5}), 3, {}).logprobs.size(), 3U);
  EXPECT_EQ(read_letters(exactly({-.5, -1, -2, -3}), 2, {}).logprobs.size(), 2U);
  EXPECT_EQ(read_letters(exactly({-.5}), 0, {}).cause, VoidCause::NoLetterSeen);
}

struct CauseCase {
  const char* name;
  FirstPosition position;
  VoidCause want;
  std::size_t n = 2;
};
class Causes : public testing::TestWithParam<CauseCase> {};

TEST_P(Causes, AreNamed) { EXPECT_EQ(cause(GetParam().position, GetParam().n), GetParam().want); }

FirstPosition with_sampled(FirstPosition position, TokenScore sampled) {
  position.sampled = std::move(sampled);
  return position;
}

FirstPosition with_mass(FirstPosition position, double mass) {
  position.top_mass = mass;
  return position;
}

INSTANTIATE_TEST_SUITE_P(
    Table, Causes,
    testing::Values(
        CauseCase{"NothingAtAll", {}, VoidCause::NoLogprobs},
        CauseCase{"EmptyList", {.logprobs_present = true}, VoidCause::NoLogprobs},
        CauseCase{"EmptyListNullSampled",
                  {.sampled = entry("A", std::nullopt), .logprobs_present = true},
                  VoidCause::NoLogprobs},
        CauseCase{"OnlyTheSampledToken",
                  {.sampled = entry("A", -.1), .logprobs_present = true},
                  VoidCause::None},
        CauseCase{"ListSaidToBeAbsent",
                  {.top = {entry("A", -.1)}, .logprobs_present = false},
                  VoidCause::NoLogprobs},
        CauseCase{"AllNull", listed({entry("A", std::nullopt), entry("B", std::nullopt)}),
                  VoidCause::NoLetterSeen},
        CauseCase{"NoLetterAmongThem", listed({entry("ok", -.1), entry("no", -3)}),
                  VoidCause::NoLetterSeen},
        CauseCase{"LetterOfAnotherItem", listed({entry("C", -.1), entry("D", -3)}),
                  VoidCause::NoLetterSeen},
        CauseCase{"Nan", listed({entry("A", -.1), entry("x", kNan)}), VoidCause::NotANumber},
        CauseCase{"NanSampled", with_sampled(listed({entry("A", -.1)}), entry("x", kNan)),
                  VoidCause::NotANumber},
        CauseCase{"NanExact", exactly({-.1, kNan}), VoidCause::NotANumber},
        CauseCase{"NanMass", with_mass(listed({entry("A", -.1)}), kNan), VoidCause::NotANumber},
        CauseCase{"PlusInfinity", listed({entry("A", kInfinity)}), VoidCause::NotFinite},
        CauseCase{"MinusInfinityIsNotSeen", listed({entry("A", -.1), entry("B", -kInfinity)}),
                  VoidCause::None},
        CauseCase{"AllZero", listed({entry("A", 0.), entry("B", -0.), entry("x", 0.)}),
                  VoidCause::AllZeroLogprobs},
        CauseCase{"AllZeroExact", exactly({0., 0.}), VoidCause::AllZeroLogprobs},
        CauseCase{"OneSureTokenIsPossible", listed({entry("A", 0.)}), VoidCause::None},
        CauseCase{"OneSureAmongOthers", listed({entry("A", 0.), entry("B", -40)}), VoidCause::None},
        CauseCase{"AboveOne", listed({entry("A", -.1), entry("B", -.2)}),
                  VoidCause::ProbabilityAboveOne},
        CauseCase{"AboveOneExact", exactly({-.1, -.2}), VoidCause::ProbabilityAboveOne},
        CauseCase{"AboveOneByTheSeatsSum", with_mass(exactly({-.1, -4}), 1.01),
                  VoidCause::ProbabilityAboveOne},
        CauseCase{"PositiveLogprob", listed({entry("A", 3.), entry("B", -4)}),
                  VoidCause::ProbabilityAboveOne},
        CauseCase{"HugeLogprob", listed({entry("A", 1e300), entry("B", -4)}),
                  VoidCause::ProbabilityAboveOne},
        CauseCase{"RoundingAboveOne", listed({entry("A", 0.0004), entry("B", -9)}),
                  VoidCause::None},
        CauseCase{"SentinelFirst", listed({entry("<pad>", -9999.), entry("A", -.1)}),
                  VoidCause::SentinelLogprob},
        CauseCase{"SentinelSampled",
                  with_sampled(listed({entry("A", -.5), entry("B", -2)}), entry("x", -9999.)),
                  VoidCause::SentinelLogprob},
        CauseCase{"SentinelEverywhere", listed({entry("A", -9999.), entry("B", -1e10)}),
                  VoidCause::SentinelLogprob},
        CauseCase{"SentinelLetterAmongTheTopIsNotSeen",
                  listed({entry("A", -.5), entry("B", -9999.)}), VoidCause::None},
        CauseCase{"SentinelLetterAskedForById", exactly({-.5, -9999.}), VoidCause::SentinelLogprob},
        CauseCase{"Thinking", listed({entry("<think>", -.01), entry("A", -6)}),
                  VoidCause::ThinkingToken},
        CauseCase{"ThinkingThoughLettersHoldMass",
                  with_sampled(listed({entry("A", -.5), entry("<|channel>", -1.5)}),
                               entry("<|channel>", -1.5)),
                  VoidCause::ThinkingToken},
        CauseCase{"ThinkingLikeliestThoughAnotherWasSampled",
                  with_sampled(listed({entry("<think>", -.5), entry("A", -1.5)}), entry("A", -1.5)),
                  VoidCause::ThinkingToken},
        CauseCase{"ThinkingFurtherDownIsNone", listed({entry("A", -.1), entry("<think>", -3)}),
                  VoidCause::None},
        CauseCase{"FusedWithABracket", listed({entry("B)", -.2), entry("B", -2.5)}),
                  VoidCause::MultiCharacter},
        CauseCase{"FusedIntoAWord", listed({entry("Based", -.2), entry("A", -2.5)}),
                  VoidCause::MultiCharacter},
        CauseCase{"FusedAndNoLetterSeen", listed({entry(" Both", -.2), entry("x", -2.5)}),
                  VoidCause::MultiCharacter},
        CauseCase{"FusedButLettersHoldMore", listed({entry("B)", -.9), entry("B", -.8)}),
                  VoidCause::None},
        CauseCase{"AWordOfNoLetterHere", listed({entry("The", -.2), entry("A", -2.5)}),
                  VoidCause::None},
        CauseCase{"TheSameWordWithTwentyLetters", listed({entry("The", -.2), entry("A", -2.5)}),
                  VoidCause::MultiCharacter, 20},
        CauseCase{"NotUtf8", listed({entry("\xff\xfe", -.01), entry("\xe2\x96", -6)}),
                  VoidCause::NoLetterSeen},
        CauseCase{"EmptyToken", listed({entry("", -.01), entry("A", -6)}),
                  VoidCause::LowLabelMass}),
    [](const auto& p) { return p.param.name; });

TEST(ThinkingMarks, AreKnownInTheirSpellings) {
  for (const char* mark :
       {"<think>", "<think>\n", " <think>", "<|channel>", "<|channel|>", "<channel|>", "<|think|>",
        "[THINK]", "<thought>", "<reasoning>", "<thinking>", "</think>", "<|START_THINKING|>",
        "<|begin_of_thought|>", "<seed:think>", "\xe2\x97\x81think\xe2\x96\xb7", "<think", "<th"}) {
    EXPECT_TRUE(is_thinking_mark(mark)) << mark;
  }
  for (const char* token :
       {"", "A", "<", "<|", "think", "Thinking", "[A]", "<table>", "<|im_end|>"}) {
    EXPECT_FALSE(is_thinking_mark(token)) << token;
  }
}

// The reference policy; each case was tried on run.py's letter_scores (NOTES.md 18).

Logprobs reference(std::vector<TokenScore> top, std::size_t n) {
  return read_letters(listed(std::move(top)), n, {.policy = LetterPolicy::Reference}).logprobs;
}

TEST(ReferencePolicy, TheExactLetterWinsWhereverItStands) {
  EXPECT_EQ(reference({entry(" A", -.1), entry("A", -5)}, 1), (Logprobs{-5.0}));
  EXPECT_EQ(reference({entry("A", -5), entry(" A", -.1)}, 1), (Logprobs{-5.0}));
  EXPECT_EQ(reference({entry("A", -5), entry("A", -7)}, 1), (Logprobs{-7.0}));  // a dict's update
}

TEST(ReferencePolicy, ElseTheFirstLookAlikeNotTheLikelier) {
  EXPECT_EQ(reference({entry("A ", -4), entry(" A", -.1)}, 1), (Logprobs{-4.0}));
  EXPECT_EQ(reference({entry("\xe3\x80\x80"
                             "A\x1f",
                             -4)},
                      1),
            (Logprobs{-4.0}));
  EXPECT_EQ(reference({entry("\xe2\x96\x81"
                             "A",
                             -4),
                       entry("\xc4\xa0"
                             "A",
                             -5),
                       entry("\xe2\x80\x8b"
                             "A",
                             -5),
                       entry("a", -6)},
                      1),
            (Logprobs{std::nullopt}));
}

TEST(ReferencePolicy, ANullHoldsItsPlaceUntilAnExactLetterComes) {
  EXPECT_EQ(reference({entry(" A", std::nullopt), entry("A ", -2)}, 1), (Logprobs{std::nullopt}));
  EXPECT_EQ(reference({entry(" A", std::nullopt), entry("A", -2)}, 1), (Logprobs{-2.0}));
}

TEST(ReferencePolicy, IsNeverVoidButForNoListAtAll) {
  const LettersRule rule{.policy = LetterPolicy::Reference};
  EXPECT_EQ(read_letters({}, 2, rule).cause, VoidCause::NoLogprobs);
  EXPECT_EQ(read_letters({.sampled = entry("A", -.1), .logprobs_present = true}, 2, rule).cause,
            VoidCause::None);
  const auto reading =
      read_letters(listed({entry("<think>", -.1), entry("B", -9999.), entry("C", kNan)}), 3, rule);
  EXPECT_EQ(reading.cause, VoidCause::None);
  EXPECT_EQ(reading.logprobs[1], -9999.0);
  EXPECT_TRUE(std::isnan(*reading.logprobs[2]));
  const Filled filled = fill_missing(reading, LetterPolicy::Reference);
  EXPECT_EQ(filled.logprobs[0], -30.0);
  EXPECT_EQ(filled.floored, (std::vector<std::size_t>{0}));
}

TEST(FillMissing, HasSomethingToGiveWhenNothingWasSeen) {
  const Filled filled = fill_missing(read_letters({}, 2, {}), LetterPolicy::Exact);
  EXPECT_EQ(filled.logprobs, (std::vector{-30.0, -30.0}));
  EXPECT_EQ(filled.floored.size(), 2U);
}

TEST(Names, ReadBack) {
  for (int i = 0; i < 12; ++i) {
    const auto value = static_cast<VoidCause>(i);
    EXPECT_EQ(parse_void_cause(to_string(value)), value);
  }
  for (int i = 0; i < 4; ++i) {
    const auto value = static_cast<LetterPolicy>(i);
    EXPECT_EQ(parse_letter_policy(to_string(value)), value);
  }
  EXPECT_EQ(to_string(VoidCause::LowLabelMass), "low_label_mass");
  EXPECT_EQ(to_string(LetterPolicy::SumExact), "sum-exact");
  EXPECT_EQ(parse_void_cause(""), std::nullopt);
  EXPECT_EQ(parse_letter_policy("Exact"), std::nullopt);
}

}  // namespace
}  // namespace deem::decision

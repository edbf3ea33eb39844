#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "decision/first_positions.h"
#include "decision/letters.h"
#include "decision/readout.h"

namespace deem::decision {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ReadLetters, KeepsWhatWasSeenAndBoundsWhatWasNot) {
  const auto reading = read_letters(
      listed({entry("B", -.1, 33), entry(" A", -2.6, 362), entry("The", -4.0, 464)}), 3, {});
  EXPECT_EQ(reading.cause, VoidCause::None);
  EXPECT_EQ(reading.logprobs, (Logprobs{std::nullopt, -.1, std::nullopt}));
  ASSERT_TRUE(reading.bound);  // lower than -4, the lowest listed: log of what the three leave
  EXPECT_NEAR(std::exp(*reading.bound), 1 - 0.9048374180 - 0.0742735782 - 0.0183156389, 1e-9);
  EXPECT_NEAR(reading.mass_letters, 0.9048374180359595, 1e-15);           // e^-.1
  EXPECT_NEAR(*reading.mass_outside, 0.0742735782 + 0.0183156389, 1e-9);  // e^-2.6 + e^-4
  EXPECT_EQ(reading.top_token, "B");
  EXPECT_EQ(reading.top_id, 33);
  EXPECT_EQ(reading.top_logprob, -.1);
  const Filled filled = fill_missing(reading, LetterPolicy::Exact);
  EXPECT_EQ(filled.logprobs, (std::vector{*reading.bound, -.1, *reading.bound}));
  EXPECT_EQ(filled.floored, (std::vector<std::size_t>{0, 2}));
}

TEST(ReadLetters, NoBoundIsNeededWhenAllWereSeen) {
  const auto reading = read_letters(listed({entry("A", -.5), entry("B", -1.5)}), 2, {});
  EXPECT_EQ(reading.bound, std::nullopt);
  EXPECT_TRUE(fill_missing(reading, LetterPolicy::Exact).floored.empty());
}

TEST(ReadLetters, ALetterNotSeenNeverBeatsOneThatWas) {
  // Defect 1 of the reference: a letter seen at -31 lost to letters at its floor of -30.
  const auto reading =
      read_letters(listed({entry("C", -.3), entry("A", -31), entry("x", -31.5)}), 3, {});
  EXPECT_EQ(fill_missing(reading, LetterPolicy::Exact).logprobs, (std::vector{-31.0, -31.5, -.3}));
  const auto exact = read_letters(exactly({-3.0, std::nullopt, -.4}), 3, {});
  const double filled = fill_missing(exact, LetterPolicy::Exact).logprobs[1];
  EXPECT_LT(filled, -3.0);
  EXPECT_NEAR(filled, -3.0, 1e-8);
}

TEST(ReadLetters, ALetterNotSeenNeverTiesWithOneThatWas) {
  // The answer is C, the only letter seen, wherever in the list it stands.
  for (const auto& position :
       {listed({entry("C", std::log(.8))}),
        listed({entry("The", std::log(.6)), entry("In", std::log(.2)), entry("C", std::log(.1))}),
        exactly({std::nullopt, std::nullopt, std::log(.6)})}) {
    const auto reading = read_letters(position, 3, {});
    EXPECT_EQ(reading.cause, VoidCause::None);
    EXPECT_EQ(argmax(softmax(fill_missing(reading, LetterPolicy::Exact).logprobs, .85)), 2U);
  }
}

TEST(ReadLetters, ALetterThatMayBeLikelierThanAllSeenLeavesItUndecided) {
  // By id: A and B have no number and may hold .6.
  EXPECT_EQ(cause(exactly({std::nullopt, std::nullopt, std::log(.4)}), 3), VoidCause::Undecided);
  // Listed without a number: the lowest listed is no bound for it, only what the others leave.
  for (const std::optional<double> none : {std::optional<double>(), std::optional(-kInfinity)}) {
    EXPECT_EQ(
        cause(listed({entry("A", none), entry("B", std::log(.2)), entry("C", std::log(.1))}), 3),
        VoidCause::Undecided);
    auto position = listed({entry("A", none), entry("B", std::log(.7)), entry("C", std::log(.1))});
    EXPECT_EQ(cause(position, 3), VoidCause::Undecided) << "the server wrote A";
    position.sampled = entry("B", std::log(.7));
    const auto reading = read_letters(position, 3, {});
    EXPECT_EQ(reading.cause, VoidCause::None) << "A holds .2 at most";
    EXPECT_NEAR(*reading.bound, std::log(.2), 1e-12);
  }
}

}  // namespace
}  // namespace deem::decision

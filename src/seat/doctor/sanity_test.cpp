// What answers to the built-in questions say, by hand.
#include "seat/doctor/sanity.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "seat/doctor/sanity_items.h"

namespace deem::seat {
namespace {

using Standing = SanityFigures::Standing;

constexpr std::size_t kItems = std::size(kSanityItems);

/// Right on the first `right` items, else the option after the label.
SanityAnswers answers(std::string name, std::size_t right) {
  SanityAnswers out{.name = std::move(name), .said = {}};
  for (std::size_t i = 0; i < kItems; ++i) {
    const SanityItem& item = kSanityItems[i];
    out.said.push_back(i < right ? item.label : (item.label + 1) % item.size);
  }
  return out;
}

TEST(SanityItems, AreTwoDozenWithTheirAnswersSpreadEvenly) {
  EXPECT_EQ(kItems, 24U);
  std::map<std::size_t, std::vector<int>> labels;  // by number of options
  for (const SanityItem& item : kSanityItems) {
    auto& counts = labels[item.size];
    counts.resize(item.size);
    ASSERT_LT(item.label, item.size);
    ++counts[item.label];
    for (std::size_t i = 0; i < item.size; ++i) EXPECT_FALSE(item.options[i].empty());
    EXPECT_EQ(item.noul, item.options[0] == "yes");
  }
  EXPECT_EQ(labels[2], (std::vector{6, 6}));
  EXPECT_EQ(labels[3], (std::vector{3, 3, 2}));
  EXPECT_EQ(labels[4], (std::vector{1, 1, 1, 1}));
}

TEST(SanityFigures, HoldAShareAgainstGuessing) {
  // A guesser expects 12/2 + 8/3 + 4/4 of 24.
  const SanityFigures all = figures_of(answers("a", 24));
  EXPECT_EQ(all.right, 24U);
  EXPECT_NEAR(all.guessing, (6 + 8.0 / 3 + 1) / 24, 1e-12);
  EXPECT_NEAR(all.chance, 1 / (4096.0 * 6561 * 256), 1e-18);
  EXPECT_EQ(all.standing(), Standing::Above);
  EXPECT_EQ(figures_of(answers("a", 0)).standing(), Standing::Guessing);
  EXPECT_EQ(figures_of(answers("a", 0)).chance, 1);
}

TEST(SanityFigures, StandAboveGuessingFromSixteenOn) {
  // The tail of 12 at ½, 8 at ⅓ and 4 at ¼, in exact fractions.
  EXPECT_NEAR(figures_of(answers("a", 15)).chance, 0.02071579969650615, 1e-12);
  EXPECT_NEAR(figures_of(answers("a", 16)).chance, 0.006935291002480254, 1e-12);
  EXPECT_EQ(figures_of(answers("a", 15)).standing(), Standing::Guessing);
  EXPECT_EQ(figures_of(answers("a", 16)).standing(), Standing::Above);
}

TEST(SanityFigures, OfFewAnswersSayNothing) {
  SanityAnswers few = answers("a", 24);
  for (std::size_t i = 0; i < 13; ++i) few.said[i].reset();
  EXPECT_EQ(figures_of(few).answered, 11U);
  EXPECT_EQ(figures_of(few).standing(), Standing::TooFew);
}

TEST(SanityLead, IsTheOneWithMostRightAndWhatItIsBetterThan) {
  // 24 against 10: 14 items one way, none the other: 2 · ½^14, times two tests.
  const std::vector readings = {answers("low", 10), answers("high", 24), answers("near", 22)};
  const auto lead = lead_of(readings);
  ASSERT_TRUE(lead);
  EXPECT_EQ(lead->best, "high");
  ASSERT_EQ(lead->over.size(), 2U);
  EXPECT_EQ(lead->over[0].name, "low");
  EXPECT_NEAR(lead->over[0].difference, 14.0 / 24, 1e-12);
  EXPECT_NEAR(lead->over[0].p, 2 * 2 / 16384.0, 1e-12);
  EXPECT_NEAR(lead->over[1].p, 0.5, 1e-12) << "2 to 0: 2 · ¼";
}

TEST(SanityLead, NeedsAReadingAboveGuessing) {
  EXPECT_FALSE(lead_of(std::vector{answers("a", 9), answers("b", 12)}));
}

std::vector<RotatedAnswer> rotations(
    const std::function<std::size_t(std::size_t, std::size_t)>& say) {
  std::vector<RotatedAnswer> out;
  for (std::size_t i = 0; i < kItems; ++i) {
    for (std::size_t shift = 0; shift < kSanityItems[i].size; ++shift)
      out.push_back({.item = i, .shift = shift, .option = say(i, shift)});
  }
  return out;
}

TEST(Places, OfAReaderAreTakenEvenly) {
  const Places places =
      places_of(rotations([](std::size_t i, std::size_t) { return kSanityItems[i].label; }));
  EXPECT_EQ(places.stuck(), "");
  EXPECT_EQ(places.flips, 0U);
  EXPECT_EQ(places.items, 24U);
  EXPECT_EQ(places.at[0].times, 24U);  // each item once
  EXPECT_EQ(places.at[0].prompts, 64U);
  EXPECT_EQ(places.at[2].prompts, 40U);  // 8 · 3 + 4 · 4
  EXPECT_EQ(places.at[3].times, 4U);
}

TEST(Places, StuckAreNamed) {
  // Place 0 holds the option `shift`, the last place the option before it.
  const Places first = places_of(rotations([](std::size_t, std::size_t shift) { return shift; }));
  EXPECT_EQ(first.stuck(), "first");
  EXPECT_EQ(first.flips, 24U);
  const Places last = places_of(rotations([](std::size_t i, std::size_t shift) {
    const std::size_t n = kSanityItems[i].size;
    return (shift + n - 1) % n;
  }));
  EXPECT_EQ(last.stuck(), "last");
}

}  // namespace
}  // namespace deem::seat

// What two sets of answers to the same questions say of each other, by hand.
#include "seat/doctor/against.h"

#include <gtest/gtest.h>

#include <cmath>

namespace deem::seat {
namespace {

/// Two options, the first right: the endpoint gives it `native`, the letters `letters`.
AgainstItem item(double native, double letters) {
  const std::vector p = {native, 1 - native};
  const std::vector scores = {std::log(letters), std::log(1 - letters)};
  return {.label = 0, .native = p, .native_again = p, .letters = scores, .letters_again = scores};
}

TEST(Against, LikeAnswersAreNotApart) {
  const std::vector items(24, item(0.9, 0.9));
  const AgainstFigures f = hold_against(items);
  EXPECT_EQ(f.n, 24U);
  EXPECT_EQ(f.native_right, 24U);
  EXPECT_EQ(f.differ, 0U);
  EXPECT_NEAR(f.max, 0, 1e-12);
  EXPECT_EQ(f.p_right, 1);
  EXPECT_EQ(f.p_differ, 1);
}

TEST(Against, SixWrongAnswersAreMoreThanChance) {
  std::vector items(24, item(0.9, 0.9));
  for (std::size_t i = 0; i < 5; ++i) items[i] = item(0.1, 0.9);
  EXPECT_NEAR(hold_against(items).p_right, 2.0 / 32, 1e-12);
  items[5] = item(0.1, 0.9);
  const AgainstFigures f = hold_against(items);
  EXPECT_NEAR(f.p_right, 2.0 / 64, 1e-12);
  EXPECT_NEAR(f.p_differ, 2.0 / 64, 1e-12);
  EXPECT_EQ(f.differ, 6U);
  EXPECT_EQ(f.letters_alone, 6U);
  EXPECT_NEAR(f.difference, -0.25, 1e-12);
  EXPECT_NEAR(f.mean, 6 * 0.8 / 24, 1e-12);
  EXPECT_NEAR(f.max, 0.8, 1e-12);
  EXPECT_EQ(f.apart, 6U);
  EXPECT_LT(f.interval.second, 0);
}

// As many answers differ, but as many change when asked again: noise explains it.
TEST(Against, WhatWaversExplainsWhatDiffers) {
  std::vector items(24, item(0.9, 0.9));
  for (std::size_t i = 0; i < 6; ++i) items[i] = item(0.4, 0.9);
  for (std::size_t i = 6; i < 12; ++i) items[i].native_again = {{0.4, 0.6}};
  const AgainstFigures f = hold_against(items);
  EXPECT_EQ(f.differ, 6U);
  EXPECT_EQ(f.wavers, 6U);
  EXPECT_EQ(f.p_differ, 1);
  EXPECT_NEAR(f.noise, 0.5, 1e-12);
}

TEST(Against, ATemperatureIsSeen) {
  // Letters of .9 at a temperature of 2: 3 to 1.
  const std::vector items(24, item(0.75, 0.9));
  const AgainstFigures f = hold_against(items);
  EXPECT_EQ(f.differ, 0U);
  EXPECT_NEAR(f.mean, 0.15, 1e-12);
  EXPECT_NEAR(f.temperature, 2, 0.05);
  EXPECT_LT(f.mean_at_temperature, 0.005);
}

TEST(Against, WhatIsNotAnsweredBothTimesByBothIsLeftOut) {
  std::vector items(24, item(0.9, 0.9));
  items[0].native.reset();
  items[1].letters_again.reset();
  EXPECT_EQ(hold_against(items).n, 22U);
  EXPECT_EQ(hold_against({}).n, 0U);
}

}  // namespace
}  // namespace deem::seat

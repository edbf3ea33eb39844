#include "base/chance.h"

#include <gtest/gtest.h>

namespace deem {
namespace {

// Wilson (1927): 8 of 10 → [0.4902, 0.9433]; 0 of 10 → [0, 0.2775].
TEST(Wilson, GivesThePublishedIntervals) {
  EXPECT_NEAR(wilson_95(8, 10).first, 0.4902, 5e-5);
  EXPECT_NEAR(wilson_95(8, 10).second, 0.9433, 5e-5);
  EXPECT_EQ(wilson_95(0, 10).first, 0);
  EXPECT_NEAR(wilson_95(0, 10).second, 0.2775, 5e-5);
}

TEST(ChanceOfAtLeast, IsTheBinomialTailWhereAllAreAlike) {
  // By hand: 5 tosses, 4 or 5 heads: (5 + 1) / 32.
  EXPECT_NEAR(chance_of_at_least(4, std::vector(5, 0.5)), 6.0 / 32, 1e-15);
  // Of 20 at ¼, in exact fractions: Σ C(20, k) ¼^k ¾^(20−k) from 8 on.
  EXPECT_NEAR(chance_of_at_least(8, std::vector(20, 0.25)), 0.10181185692272265, 1e-14);
}

TEST(ChanceOfAtLeast, TakesTrialsThatDiffer) {
  // By hand: ½ and ¼: both 1/8, none 3/8.
  const double p[] = {0.5, 0.25};
  EXPECT_EQ(chance_of_at_least(0, p), 1);
  EXPECT_NEAR(chance_of_at_least(1, p), 5.0 / 8, 1e-15);
  EXPECT_NEAR(chance_of_at_least(2, p), 1.0 / 8, 1e-15);
  EXPECT_EQ(chance_of_at_least(3, p), 0);
  EXPECT_EQ(chance_of_at_least(0, {}), 1);
}

/// The numbers of binomtest(k, n, .5) of scipy 1.17.1.
TEST(McNemar, IsTheExactBinomialTest) {
  EXPECT_NEAR(mcnemar_exact(3, 9), 0.14599609375, 1e-14);
  EXPECT_NEAR(mcnemar_exact(6, 0), 0.03125, 1e-14);
  EXPECT_NEAR(mcnemar_exact(0, 6), 0.03125, 1e-14);
  EXPECT_EQ(mcnemar_exact(5, 5), 1);
  EXPECT_NEAR(mcnemar_exact(10, 30), 0.0022214337732293643, 1e-14);
  EXPECT_EQ(mcnemar_exact(0, 0), 1);
}

/// Newcombe, Statistics in Medicine 17 (1998), 2635: method 10 in the paper's examples.
TEST(PairedDifference, GivesThePublishedIntervals) {
  const auto [low, high] = paired_difference_95(36, 12, 2, 0);
  EXPECT_NEAR(low, 0.0569, 5e-5);
  EXPECT_NEAR(high, 0.3404, 5e-5);
  EXPECT_NEAR(paired_difference_95(54, 0, 0, 0).first, -0.0664, 5e-5);
  EXPECT_NEAR(paired_difference_95(54, 0, 0, 0).second, 0.0664, 5e-5);
}

TEST(PairedDifference, TurnsWithItsSidesAndIsAllWithoutPairs) {
  const auto one = paired_difference_95(10, 5, 1, 8), other = paired_difference_95(10, 1, 5, 8);
  EXPECT_NEAR(one.first, -other.second, 1e-15);
  EXPECT_NEAR(one.second, -other.first, 1e-15);
  EXPECT_EQ(paired_difference_95(0, 0, 0, 0), (std::pair{-1.0, 1.0}));
}

TEST(Holm, AdjustsStepDown) {
  // By hand: sorted .01 .02 .03 .5 → ×4 ×3 ×2 ×1 = .04 .06 .06 .5, never falling.
  const auto adjusted = holm(std::vector{.03, .01, .5, .02});
  EXPECT_NEAR(adjusted[1], .04, 1e-15);
  EXPECT_NEAR(adjusted[3], .06, 1e-15);
  EXPECT_NEAR(adjusted[0], .06, 1e-15);
  EXPECT_NEAR(adjusted[2], .5, 1e-15);
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace deem

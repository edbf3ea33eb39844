// Expected values: scikit-learn 1.9.1, numpy 2.4.6 and scipy 1.17.1 on the same numbers, and by
// hand where said.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "score/calibration.h"
#include "score/classes.h"
#include "score/judged.h"
#include "score/proper.h"
#include "score/resample.h"
#include "score/selective.h"

namespace deem::score {
namespace {

/// Twelve answers among classes 0..3, one of them a class (4) that is never right.
std::vector<ClassPair> twelve() {
  constexpr std::array kRight = {0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 1};
  constexpr std::array kSaid = {0, 1, 0, 1, 1, 2, 0, 2, 3, 3, 1, 4};
  std::vector<ClassPair> pairs;
  for (std::size_t i = 0; i < kRight.size(); ++i) {
    pairs.push_back({static_cast<std::size_t>(kSaid[i]), static_cast<std::size_t>(kRight[i])});
  }
  return pairs;
}

TEST(Classes, AreCountedAsScikitLearnDoes) {
  EXPECT_NEAR(*balanced_accuracy(twelve()), 0.5833333333333333, 1e-15);
  EXPECT_NEAR(*macro_f1(twelve()), 0.4809523809523809, 1e-15);
  EXPECT_NEAR(*mean_absolute_error(twelve()), 0.75, 1e-15);
  EXPECT_NEAR(*within_one(twelve()), 0.75, 1e-15);
  EXPECT_NEAR(*quadratic_weighted_kappa(twelve()), 0.40625, 1e-15);
}

TEST(Classes, HaveNoFigureWhereThereIsNothingToCount) {
  EXPECT_FALSE(balanced_accuracy({}));
  EXPECT_FALSE(macro_f1({}));
  EXPECT_FALSE(mean_absolute_error({}));
  EXPECT_FALSE(within_one({}));
  EXPECT_FALSE(quadratic_weighted_kappa({}));
  EXPECT_FALSE(quadratic_weighted_kappa(std::vector<ClassPair>{{1, 1}, {1, 1}}));
}

TEST(RankedProbabilityScore, CountsHowFarOffTheMassIs) {
  EXPECT_NEAR(ranked_probability_score(std::vector{.1, .2, .4, .2, .1}, 1), 0.15, 1e-15);
  EXPECT_NEAR(ranked_probability_score(std::vector{1.0, 0.0}, 1), 1, 1e-15);
  EXPECT_NEAR(ranked_probability_score(std::vector{.25, .25, .25, .25}, 3), 0.2916666666666667,
              1e-15);
}

/// Eight answers among three options.
Judged eight() {
  const std::vector<std::pair<std::vector<double>, std::size_t>> rows = {
      {{.7, .2, .1}, 0}, {{.1, .6, .3}, 1}, {{.34, .33, .33}, 2}, {{.05, .05, .9}, 2},
      {{.2, .5, .3}, 0}, {{0, 1, 0}, 1},    {{.45, .45, .1}, 0},  {{.8, .1, .1}, 0}};
  constexpr std::array<std::size_t, 8> kChoice = {0, 1, 0, 2, 1, 1, 0, 0};
  Judged judged;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    judged.add(rows[i].first, kChoice[i], rows[i].second, i / 2);
  }
  return judged;
}

TEST(BrierParts, AddUpToTheScore) {
  const auto parts = brier_parts(eight());
  ASSERT_TRUE(parts);
  EXPECT_NEAR(parts->brier, 0.330425, 1e-14);
  EXPECT_NEAR(parts->reliability, 0.115, 1e-14);
  EXPECT_NEAR(parts->resolution, 0.4479166666666668, 1e-14);
  EXPECT_NEAR(parts->uncertainty, 2.0 / 3, 1e-14);
  EXPECT_NEAR(parts->within_bins, -0.003325, 1e-14);
  EXPECT_NEAR(parts->reliability - parts->resolution + parts->uncertainty + parts->within_bins,
              parts->brier, 1e-14);
}

TEST(BrierParts, ALabelThatIsNoOptionCostsTheOneItShouldHaveGot) {
  Judged judged = eight();
  judged.add(std::vector{.5, .5}, 0, 2, 9);
  const auto parts = brier_parts(judged);
  ASSERT_TRUE(parts);
  EXPECT_NEAR(parts->brier, (8 * 0.330425 + 1.5) / 9, 1e-14);  // .25 + .25 + 1
  EXPECT_NEAR(parts->reliability - parts->resolution + parts->uncertainty + parts->within_bins,
              parts->brier, 1e-14);
  EXPECT_FALSE(brier_parts({}));
}

TEST(LogLoss, ClipsAndCounts) {
  const auto loss = log_loss(eight());
  ASSERT_TRUE(loss);
  EXPECT_NEAR(loss->mean, 0.5890766084812804, 1e-14);
  EXPECT_EQ(loss->clipped, 0U);
  Judged wrong;
  wrong.add(std::vector{1.0, 0.0}, 0, 1, 0);
  wrong.add(std::vector{1.0, 0.0}, 0, 2, 1);                      // no option
  EXPECT_NEAR(log_loss(wrong)->mean, 13.815510557964274, 1e-12);  // -ln 1e-6
  EXPECT_EQ(log_loss(wrong)->clipped, 2U);
}

TEST(CalibrationErrors, AreThoseOfNumpy) {
  const auto judged = eight();
  EXPECT_NEAR(ece_of(equal_width_bins(judged, 15)), 0.29875, 1e-14);
  EXPECT_NEAR(ece_of(equal_mass_bins(judged, 3)), 0.16125, 1e-14);
  EXPECT_NEAR(ece_of(equal_mass_bins(judged, 15)), 0.29875, 1e-14);  // one answer a bin
  const auto bins = equal_mass_bins(judged, 3);
  ASSERT_EQ(bins.size(), 3U);
  EXPECT_EQ(bins[0].n, 3U);
  EXPECT_EQ(bins[2].n, 2U);
  EXPECT_EQ(bins[1].low, .6);
  EXPECT_EQ(bins[1].high, .8);
}

TEST(CalibrationErrors, ABinTakesItsLowerEdgeAndTheLastOneAlsoOne) {
  Judged judged;
  judged.add(std::vector{.6, .4}, 0, 0, 0);
  judged.add(std::vector{1.0, 0.0}, 0, 0, 0);
  const auto bins = equal_width_bins(judged, 5);
  EXPECT_EQ(bins[3].n, 1U);
  EXPECT_EQ(bins[4].n, 1U);
}

TEST(CalibrationErrors, ACalibratedModelIsNotWorseThanWhatItWouldShowByChance) {
  // Confidences .5 … .99; right exactly as often as stated, drawn once.
  Random random(7);
  Judged calibrated, overconfident;
  for (std::size_t i = 0; i < 2'000; ++i) {
    const double p = .5 + .49 * random.unit();
    const double sure = 1 - (1 - p) / 5;
    const std::size_t label = random.unit() < p ? 0 : 1;
    calibrated.add(std::vector{p, 1 - p}, 0, label, i);
    overconfident.add(std::vector{sure, 1 - sure}, 0, label, i);
  }
  const auto good = calibration_error(calibrated, 1), bad = calibration_error(overconfident, 1);
  ASSERT_TRUE(good && bad);
  EXPECT_LT(good->equal_width, good->null_p95);
  EXPECT_GT(good->null_mean, 0);
  EXPECT_LT(good->null_mean, good->null_p95);
  EXPECT_GT(bad->equal_width, 3 * bad->null_p95);
  EXPECT_EQ(calibration_error(calibrated, 1)->null_p95, good->null_p95);  // by the seed
}

TEST(RiskCoverageCurve, IsTheMeanRiskOverAllCoverages) {
  const RiskCoverage curve(eight());
  EXPECT_NEAR(*curve.area(), 0.06994047619047619, 1e-15);
  EXPECT_EQ(curve.runs().size(), 8U);
  EXPECT_EQ(curve.above(.6).n, 5U);
  EXPECT_EQ(curve.above(.6).correct, 5U);
  EXPECT_EQ(curve.above(.5).correct, 5U);
  EXPECT_EQ(curve.above(1.1).n, 0U);
  EXPECT_EQ(curve.threshold_for(1, false), .6);
  EXPECT_EQ(curve.threshold_for(.8, false), .45);          // 6 of 7, after 5 of 6 at .5
  EXPECT_EQ(curve.threshold_for(.7, true), std::nullopt);  // 5 of 5: Wilson's lower end is .566
  EXPECT_EQ(curve.threshold_for(.5, true), .6);            // 5 of 6 and 6 of 7: .436, .487
}

TEST(RiskCoverageCurve, TiesAreSpreadEvenly) {
  // By hand: one run of two answers, one wrong: risks .5 (half an error of one) and .5.
  Judged judged;
  judged.add(std::vector{.9, .1}, 0, 1, 0);
  judged.add(std::vector{.9, .1}, 0, 0, 1);
  const RiskCoverage curve(judged);
  EXPECT_EQ(curve.runs().size(), 1U);
  EXPECT_NEAR(*curve.area(), .5, 1e-15);
  EXPECT_FALSE(RiskCoverage(Judged()).area());
}

TEST(Bootstrap, TwoMeansAtOnceAndTheSameForASeed) {
  std::vector<ClusterSums> clusters;
  for (int i = 0; i < 400; ++i) clusters.push_back({1, i < 100 ? 1.0 : 0.0, .5});
  const auto means = bootstrap_means(clusters, 3);
  ASSERT_TRUE(means);
  // A share of .25 of 400: the normal interval is .25 ± 1.96·.02165.
  EXPECT_NEAR(means->a.low, .25 - .0424, .006);
  EXPECT_NEAR(means->a.high, .25 + .0424, .006);
  EXPECT_NEAR(means->b.low, .5, 1e-12);
  EXPECT_NEAR(means->b.high, .5, 1e-12);
  EXPECT_EQ(bootstrap_means(clusters, 3)->a.low, means->a.low);
}

TEST(Bootstrap, ItemsOnOneStateCountTogether) {
  // 40 states of ten items that are all right or all wrong: as wide as 40 items, not as 400.
  std::vector<ClusterSums> clusters;
  for (int i = 0; i < 40; ++i) clusters.push_back({10, i % 2 == 0 ? 10.0 : 0.0, 0});
  const auto means = bootstrap_means(clusters, 5);
  ASSERT_TRUE(means);
  EXPECT_NEAR(means->a.high - means->a.low, 2 * 1.96 * std::sqrt(.25 / 40), .06);
  EXPECT_FALSE(bootstrap_means(std::vector<ClusterSums>(1), 5))
      << "one state says nothing of another";
}

TEST(RandomNumbers, AreXoshiro256StarStarSeededBySplitmix64) {
  // The first words for seed 1, from the authors' C code written out in Python.
  Random random(1);
  EXPECT_EQ(random.next(), 12966619160104079557ULL);
  EXPECT_EQ(random.next(), 9600361134598540522ULL);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) sum += static_cast<double>(random.below(7));
  EXPECT_NEAR(sum / 10'000, 3, .1);
}

}  // namespace
}  // namespace deem::score

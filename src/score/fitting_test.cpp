#include "score/fitting.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "decision/readout.h"
#include "score/resample.h"

namespace deem::score {
namespace {

using Method = decision::Calibrator::Method;

RawSample three_options() {
  const double z[][3] = {{-.2, -1.9, -2.4}, {-1.1, -.6, -3.0}, {-.9, -1.0, -1.4},
                         {-2.2, -.3, -2.0}, {-.5, -1.2, -2.8}, {-1.5, -1.6, -.7}};
  const std::size_t labels[] = {0, 0, 2, 1, 0, 1};
  RawSample out;
  for (std::size_t i = 0; i < 6; ++i) out.add(z[i], 3, labels[i], i, decision::softmax(z[i], 0.85));
  return out;
}

RawSample ten_gains() {
  const double x[] = {-3.1, -2.0, -1.2, -.4, .1, .3, .9, 1.7, 2.5, 4.0};
  const int yes[] = {0, 0, 1, 0, 0, 1, 1, 0, 1, 1};
  RawSample out;
  for (std::size_t i = 0; i < 10; ++i) out.add(std::span(&x[i], 1), 2, yes[i] == 1 ? 0 : 1, i, {});
  return out;
}

// scipy 1.17.1: brentq on the derivative of the same loss.
TEST(Fit, TemperatureIsScipys) {
  const RawSample sample = three_options();
  const auto fitted = fit(sample, sample.all(), Method::Temperature);
  ASSERT_TRUE(fitted);
  ASSERT_EQ(fitted->temperatures.size(), 1U);
  EXPECT_NEAR(fitted->temperatures[0].value, 1.2290100699778548, 1e-12);
}

TEST(Fit, LabelPriorUndoesTheMeanAnswer) {
  const RawSample sample = three_options();
  const auto fitted = fit(sample, sample.all(), Method::LabelPrior);
  ASSERT_TRUE(fitted);
  // numpy: −ln of the mean softmax
  EXPECT_NEAR(fitted->bias[0], 0.8717692163713987, 1e-12);
  EXPECT_NEAR(fitted->bias[1], 0.9282892430750252, 1e-12);
  EXPECT_NEAR(fitted->bias[2], 1.6790037810975582, 1e-12);
  EXPECT_NEAR(fitted->temperatures[0].value, 1.2353035695349694, 1e-12);
}

// scipy 1.17.1 (fsolve on the gradient); scikit-learn's _sigmoid_calibration agrees to its 1e-7.
TEST(Fit, PlattIsScikitLearns) {
  const RawSample sample = ten_gains();
  const auto fitted = fit(sample, sample.all(), Method::Platt);
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(fitted->slope, 0.40377579887035026, 1e-11);
  EXPECT_NEAR(fitted->offset, -0.10786367886155579, 1e-11);
}

TEST(Fit, PlattGoesToTheLastDigits) {
  // The slope of the loss is zero at its least: it is known to about 1e-15 an item.
  Random random(3);
  for (int draw = 0; draw < 100; ++draw) {
    RawSample sample;
    for (std::size_t i = 0; i < 150; ++i) {
      const double x = 8 * random.unit() - 4;
      const bool yes = random.unit() < 1 / (1 + std::exp(-x));
      sample.add(std::span(&x, 1), 2, yes ? 0 : 1, i, {});
    }
    const auto fitted = fit(sample, sample.all(), Method::Platt);
    ASSERT_TRUE(fitted);
    double yes = 0, by_slope = 0, by_offset = 0;
    for (std::size_t i = 0; i < 150; ++i) yes += sample.item(i).label == 0 ? 1 : 0;
    for (std::size_t i = 0; i < 150; ++i) {
      const double x = sample.scores(sample.item(i))[0];
      const double off = (*decision::apply_calibrator(*fitted, std::vector{x}))[0] -
                         (sample.item(i).label == 0 ? (yes + 1) / (yes + 2) : 1 / (152 - yes));
      by_slope += off * x;
      by_offset += off;
    }
    EXPECT_NEAR(by_slope, 0, 1e-11);
    EXPECT_NEAR(by_offset, 0, 1e-11);
  }
}

TEST(Fit, IsotonicIsScikitLearnsHeldInside) {
  const RawSample sample = ten_gains();
  const auto fitted = fit(sample, sample.all(), Method::Isotonic);
  ASSERT_TRUE(fitted);
  // scikit-learn's thresholds; its 0 and 1 are held to 1/20 and 19/20.
  const std::vector<decision::Calibrator::Knot> want = {
      {-3.1, .05},   {-2.0, .05},    {-1.2, 1.0 / 3}, {.1, 1.0 / 3},
      {.3, 2.0 / 3}, {1.7, 2.0 / 3}, {2.5, .95},      {4.0, .95}};
  std::vector<decision::Calibrator::Knot> got = fitted->knots;
  ASSERT_GE(got.size(), want.size());
  for (const auto& knot : want) EXPECT_NEAR(decision::interpolate(got, knot.x), knot.p, 1e-12);
}

TEST(Fit, IsotonicTakesWhatDiffersByRoundingForOne) {
  // Written answers: 1 at the option stated. Where it stands moves the last bit of softmax over 11
  // options, and where it stands is no reason for another probability.
  RawSample sample;
  std::set<double> x;
  for (std::size_t i = 0; i < 110; ++i) {
    std::vector<double> z(11);
    z[i % 11] = 1;
    x.insert(decision::softmax(z)[i % 11]);
    sample.add(z, 11, i % 11 < 5 ? i % 11 : (i + 1) % 11, i, {});
  }
  ASSERT_EQ(x.size(), 2U);
  const auto fitted = fit(sample, sample.all(), Method::Isotonic);
  ASSERT_TRUE(fitted);
  for (const double one : x)
    EXPECT_NEAR(decision::interpolate(fitted->knots, one), 5.0 / 11, 1e-12);
}

TEST(Fit, IsotonicOfDifferentNumbersOfOptionsIsByOption) {
  RawSample sample;
  const double two[] = {std::log(3.0), 0}, three[] = {std::log(6.0), 0, 0};
  for (std::size_t i = 0; i < 8; ++i) {
    sample.add(two, 2, i < 6 ? 0 : 1, i, decision::softmax(two));
    sample.add(three, 3, i < 6 ? 0 : i - 5, i, decision::softmax(three));
  }
  // By hand: p = 3/4 was right in 12 of 16, 1/4 in 2 of 8, 1/8 in 2 of 16. Nothing is to change.
  const auto fitted = fit(sample, sample.all(), Method::Isotonic);
  ASSERT_TRUE(fitted);
  EXPECT_TRUE(fitted->by_option);
  EXPECT_NEAR((*decision::apply_calibrator(*fitted, two))[0], 0.75, 1e-6);
  EXPECT_NEAR((*decision::apply_calibrator(*fitted, three))[0], 0.75, 1e-6);
  EXPECT_NEAR((*decision::apply_calibrator(*fitted, three))[2], 0.125, 1e-6);
}

TEST(Fit, SeparatedAnswersGiveFiniteConstants) {
  RawSample sample;
  for (std::size_t i = 0; i < 40; ++i) {
    const std::size_t label = i % 2;
    const double z[] = {label == 0 ? 3.0 : 0.0, label == 0 ? 0.0 : 3.0};
    sample.add(z, 2, label, i, decision::softmax(z));
  }
  for (const Method method : {Method::Temperature, Method::Platt, Method::Isotonic}) {
    const auto fitted = fit(sample, sample.all(), method);
    ASSERT_TRUE(fitted);
    const auto p = decision::apply_calibrator(*fitted, std::vector{3.0, 0.0});
    ASSERT_TRUE(p);
    EXPECT_GT((*p)[0], 0.9);
    EXPECT_LT((*p)[0], 1.0);
  }
  // By hand: 1 − 1/42 is where the loss against the smoothed target is least.
  const auto p = decision::apply_calibrator(*fit(sample, sample.all(), Method::Temperature),
                                            std::vector{3.0, 0.0});
  EXPECT_NEAR((*p)[0], 1 - 1.0 / 42, 1e-9);
}

TEST(Fit, AScoreThatNeverDiffersGetsNoSlope) {
  RawSample sample;
  for (std::size_t i = 0; i < 60; ++i) {
    const double x = -0.3 + (i % 2 == 0 ? 0 : 1e-15);
    sample.add(std::span(&x, 1), 2, i % 3 == 0 ? 1 : 0, i, {});
  }
  const auto fitted = fit(sample, sample.all(), Method::Platt);
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->slope, 0);
  // By hand: 40 of 60 are yes, targets 41/42 and 1/22.
  EXPECT_NEAR((*decision::apply_calibrator(*fitted, std::vector{9.0}))[0],
              (40 * 41.0 / 42 + 20 / 22.0) / 60, 1e-9);
}

TEST(Fit, ScoresThatPointTheWrongWayKeepTheShareOfYes) {
  RawSample sample;
  for (std::size_t i = 0; i < 20; ++i) {
    const double x = i < 10 ? 1.0 : -1.0;  // yes scores low
    sample.add(std::span(&x, 1), 2, i < 10 ? 1 : 0, i, {});
  }
  const auto fitted = fit(sample, sample.all(), Method::Platt);
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->slope, 0);
  EXPECT_NEAR((*decision::apply_calibrator(*fitted, std::vector{5.0}))[0], 0.5, 1e-12);
}

/// Labels drawn from softmax(z / 2): the fit must find 2, and own constants must lose.
TEST(Fit, FindsThePlantedTemperature) {
  Random random(7);
  RawSample sample;
  for (std::size_t i = 0; i < 2'000; ++i) {
    const double z[] = {6 * random.unit(), 6 * random.unit(), 6 * random.unit()};
    const auto p = decision::softmax(z, 2.0);
    const double u = random.unit();
    const std::size_t label = u < p[0] ? 0 : (u < p[0] + p[1] ? 1 : 2);
    sample.add(z, 3, label, i, decision::softmax(z));
  }
  const auto best = fit_best(sample, sample.all(), methods_for(sample), 1);
  ASSERT_TRUE(best);
  ASSERT_EQ(best->calibrator.method, Method::Temperature);
  EXPECT_NEAR(best->calibrator.temperatures[0].value, 2.0, 0.15);
}

TEST(Fit, EachNumberOfOptionsHasItsOwnTemperatureWhereThereAreEnough) {
  Random random(11);
  RawSample sample;
  const auto add = [&](std::size_t options, double t) {
    std::vector<double> z;
    for (std::size_t k = 0; k < options; ++k) z.push_back(6 * random.unit());
    const auto p = decision::softmax(z, t);
    double u = random.unit();
    std::size_t label = 0;
    while (label + 1 < options && u >= p[label]) u -= p[label++];
    sample.add(z, options, label, sample.size(), decision::softmax(z));
  };
  for (int i = 0; i < 1'500; ++i) add(2, 1.0);
  for (int i = 0; i < 1'500; ++i) add(5, 3.0);
  for (int i = 0; i < 10; ++i) add(7, 1.0);
  const auto fitted = fit(sample, sample.all(), Method::Temperature);
  ASSERT_TRUE(fitted);
  ASSERT_EQ(fitted->temperatures.size(), 3U);  // any, 2, 5; seven are too few
  EXPECT_EQ(fitted->temperatures[1].options, 2U);
  EXPECT_NEAR(fitted->temperatures[1].value, 1.0, 0.15);
  EXPECT_EQ(fitted->temperatures[2].options, 5U);
  EXPECT_NEAR(fitted->temperatures[2].value, 3.0, 0.45);
}

TEST(Fit, NeverIsWorseOnItsOwnItems) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const std::size_t options = 2 + random.below(3);
    RawSample sample;
    const std::size_t n = 5 + random.below(40);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> z;
      for (std::size_t k = 0; k < options; ++k) z.push_back(10 * random.unit() - 5);
      sample.add(z, options, random.below(options), random.below(12), decision::softmax(z, 0.85));
    }
    const auto best = fit_best(sample, sample.all(), methods_for(sample), seed);
    ASSERT_TRUE(best);
    EXPECT_LE(losses(sample, sample.all(), best->calibrator)->log_loss,
              losses(sample, sample.all(), {})->log_loss);
  }
}

TEST(Folds, StatesStayWholeAndPartsAreEven) {
  Random random(3);
  RawSample sample;
  for (std::size_t i = 0; i < 200; ++i) {
    const double z[] = {0, 1};
    sample.add(z, 2, 0, random.below(40), {});
  }
  const auto fold_of = assign_folds(sample, sample.all(), 5, 9);
  std::vector<std::size_t> sizes(5);
  for (std::size_t fold = 0; fold < 5; ++fold) {
    const Split parts = split(sample, sample.all(), fold_of, fold);
    EXPECT_EQ(parts.train.size() + parts.held_out.size(), 200U);
    sizes[fold] = parts.held_out.size();
    for (const std::size_t i : parts.held_out) {
      for (const std::size_t j : parts.train) {
        EXPECT_NE(sample.item(i).cluster, sample.item(j).cluster);
      }
    }
  }
  for (const std::size_t size : sizes) EXPECT_NEAR(static_cast<double>(size), 40, 6);
}

TEST(Losses, AnItemWithoutAnAnswerIsWrongWithEqualProbabilities) {
  RawSample sample;
  sample.add({}, 4, 1, 0, {});
  const auto sum = losses(sample, sample.all(), {});
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->right, 0);
  EXPECT_NEAR(sum->brier, 0.75, 1e-15);
  EXPECT_NEAR(sum->log_loss, std::log(4.0), 1e-15);
}

}  // namespace
}  // namespace deem::score

#include "decision/calibrator.h"

#include <gtest/gtest.h>

#include <cmath>

namespace deem::decision {
namespace {

using Method = Calibrator::Method;

TEST(Calibrator, TemperatureIsASoftmax) {
  // published vectors: softmax at T = .85 of [−.3, −1.6, −4.2] → [.8151, .1766, .0083]
  const Calibrator one{.method = Method::Temperature, .temperatures = {{0, 0.85}}};
  const auto p = apply_calibrator(one, std::vector{-0.3, -1.6, -4.2});
  ASSERT_TRUE(p);
  EXPECT_NEAR((*p)[0], 0.8151, 5e-5);
  EXPECT_NEAR((*p)[1], 0.1766, 5e-5);
  EXPECT_NEAR((*p)[2], 0.0083, 5e-5);
}

TEST(Calibrator, TheTemperatureOfANumberOfOptionsComesFirst) {
  const Calibrator two{.method = Method::Temperature, .temperatures = {{0, 1.0}, {2, 2.0}}};
  const double gap = std::log(3.0);
  EXPECT_NEAR((*apply_calibrator(two, std::vector{gap, 0.0}))[0], std::sqrt(3) / (1 + std::sqrt(3)),
              1e-15);
  EXPECT_NEAR((*apply_calibrator(two, std::vector{gap, 0.0, -1e9}))[0], 0.75, 1e-15);
  const Calibrator only_two{.method = Method::Temperature, .temperatures = {{2, 2.0}}};
  EXPECT_FALSE(apply_calibrator(only_two, std::vector{1.0, 0.0, 0.0}));
}

TEST(Calibrator, BiasIsAddedBeforeDivision) {
  // (0 + ln 4) / 2 = ln 2 against 0: 2/3.
  const Calibrator prior{
      .method = Method::LabelPrior, .temperatures = {{0, 2.0}}, .bias = {std::log(4.0), 0.0}};
  EXPECT_NEAR((*apply_calibrator(prior, std::vector{0.0, 0.0}))[0], 2.0 / 3, 1e-15);
  EXPECT_FALSE(apply_calibrator(prior, std::vector{0.0, 0.0, 0.0}));
}

TEST(Calibrator, PlattTakesTheDifferenceOrTheBareScore) {
  const Calibrator platt{.method = Method::Platt, .slope = 0.5, .offset = 1.0};
  const double p = 1 / (1 + std::exp(-2.0));  // x = 2
  EXPECT_NEAR((*apply_calibrator(platt, std::vector{-1.0, -3.0}))[0], p, 1e-15);
  EXPECT_NEAR((*apply_calibrator(platt, std::vector{2.0}))[0], p, 1e-15);
  EXPECT_NEAR((*apply_calibrator(platt, std::vector{2.0}))[1], 1 - p, 1e-15);
  EXPECT_FALSE(apply_calibrator(platt, std::vector{1.0, 0.0, 0.0}));
}

TEST(Calibrator, IsotonicIsLinearBetweenKnotsAndConstantOutside) {
  const std::vector<Calibrator::Knot> knots = {{0, .1}, {1, .5}, {3, .9}};
  EXPECT_DOUBLE_EQ(interpolate(knots, -7), .1);
  EXPECT_DOUBLE_EQ(interpolate(knots, 0), .1);
  EXPECT_DOUBLE_EQ(interpolate(knots, .25), .2);
  EXPECT_DOUBLE_EQ(interpolate(knots, 2), .7);
  EXPECT_DOUBLE_EQ(interpolate(knots, 3), .9);
  EXPECT_DOUBLE_EQ(interpolate(knots, 1e300), .9);
  const Calibrator iso{.method = Method::Isotonic, .knots = knots};
  EXPECT_NEAR((*apply_calibrator(iso, std::vector{2.0}))[0], .7, 1e-15);
  EXPECT_NEAR((*apply_calibrator(iso, std::vector{3.0, 1.0}))[1], .3, 1e-15);
}

TEST(Calibrator, IsotonicOverManyOptionsSumsToOneAndKeepsTheOrderOfEquals) {
  const Calibrator flat{
      .method = Method::Isotonic, .knots = {{0, .25}, {1, .25}}, .by_option = true};
  const auto p = apply_calibrator(flat, std::vector{0.0, 2.0, 1.0});
  ASSERT_TRUE(p);
  EXPECT_NEAR((*p)[0] + (*p)[1] + (*p)[2], 1, 1e-12);
  EXPECT_GT((*p)[1], (*p)[2]);
  EXPECT_GT((*p)[2], (*p)[0]);
  EXPECT_NEAR((*p)[1], 1.0 / 3, 1e-5);
}

TEST(Calibrator, IsotonicByOptionTakesTwoOptionsByTheirProbabilitiesToo) {
  // p = (3/4, 1/4); the knots map them to (.625, .375) and their millionths to (.75, .25)e-6.
  const Calibrator by_option{
      .method = Method::Isotonic, .knots = {{0, .25}, {1, .75}}, .by_option = true};
  const auto p = apply_calibrator(by_option, std::vector{std::log(3.0), 0.0});
  ASSERT_TRUE(p);
  EXPECT_NEAR((*p)[0], (.625 + .75e-6) / (1 + 1e-6), 1e-15);
  EXPECT_NEAR((*p)[1], (.375 + .25e-6) / (1 + 1e-6), 1e-15);
}

TEST(Calibrator, WhatDoesNotSuitGivesNothing) {
  EXPECT_FALSE(apply_calibrator(Calibrator{}, std::vector{1.0, 0.0}));
  EXPECT_FALSE(apply_calibrator(Calibrator{.method = Method::Temperature, .temperatures = {{0, 1}}},
                                std::vector{1.0}));
  EXPECT_FALSE(apply_calibrator(Calibrator{.method = Method::Isotonic}, std::vector{1.0}));
  Calibrator isotonic{.method = Method::Isotonic, .knots = {{0, .25}, {1, .75}}};
  EXPECT_FALSE(apply_calibrator(isotonic, std::vector{1.0, 0.0, 0.0}));
  isotonic.by_option = true;
  EXPECT_FALSE(apply_calibrator(isotonic, std::vector{1.0}));
  EXPECT_FALSE(apply_calibrator(Calibrator{.method = Method::Platt}, std::vector<double>{}));
}

TEST(Calibrator, WhatIsNotFiniteIsNoProbability) {
  const Calibrator huge{.method = Method::LabelPrior,
                        .temperatures = {{0, 1e-6}},
                        .bias = {1.7e308, -1.7e308, 1.7e308}};
  EXPECT_FALSE(apply_calibrator(huge, std::vector{-1.0, -2.0, -3.0}));
}

TEST(Calibrator, NamesAreReadBack) {
  for (const Method method :
       {Method::None, Method::Temperature, Method::LabelPrior, Method::Platt, Method::Isotonic}) {
    EXPECT_EQ(parse_method(to_string(method)), method);
  }
  EXPECT_FALSE(parse_method("temprature"));
}

}  // namespace
}  // namespace deem::decision

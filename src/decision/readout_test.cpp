#include "decision/readout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace deem::decision {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expect_near(std::span<const double> got, std::vector<double> want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance) << i;
}

// Expected numbers: published vectors, and CPython 3.11 where all digits are given.

TEST(Softmax, AtTheServingTemperature) {
  expect_near(softmax(std::vector{-.3, -1.6, -4.2}, .85), {.8151, .1766, .0083}, 5e-5);
  EXPECT_EQ(softmax(std::vector{-.3, -1.6, -4.2}, .85),
            (std::vector{0.8151062867521001, 0.1766034375621373, 0.008290275685762639}));
}

TEST(Softmax, DoesNotOverflowAndTakesMinusInfinity) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(softmax(std::vector{1e308, -1e308}), (std::vector{1.0, 0.0}));
  EXPECT_EQ(softmax(std::vector{-1e5, -1e5}, .85), (std::vector{.5, .5}));
  EXPECT_EQ(softmax(std::vector{-kInfinity, -2.0}), (std::vector{0.0, 1.0}));
  EXPECT_TRUE(softmax(std::vector<double>{}).empty());
  EXPECT_TRUE(std::isnan(softmax(std::vector{kNan, 0.0})[1]));
}

struct NoulCase {
  double yes, no, softmaxed, published, code_default;
};
class Noul : public testing::TestWithParam<NoulCase> {};

TEST_P(Noul, MatchesTheHelperWithBothSetsOfConstants) {
  const auto& c = GetParam();
  const std::vector<double> logprobs = {c.yes, c.no};
  const Constants published;
  const Constants code_default{.temperature = 1.1, .noul_slope = 3.0, .noul_bias = -.4};
  const double p = softmax(logprobs, published.temperature)[0];
  EXPECT_NEAR(p, c.softmaxed, 6e-7);
  EXPECT_NEAR(calibrate_noul(p, published), c.published, 6e-7);
  const double q = softmax(logprobs, code_default.temperature)[0];
  EXPECT_NEAR(calibrate_noul(q, code_default), c.code_default, 6e-7);
}

INSTANTIATE_TEST_SUITE_P(Facts, Noul,
                         testing::Values(NoulCase{-.10, -2.60, .949845, .833135, .588453},
                                         NoulCase{-2.60, -.10, .050155, .166865, .239108},
                                         NoulCase{-.05, -30, 1.0, .993539, .935238},
                                         NoulCase{-.70, -.69, .497059, .498392, .400584},
                                         NoulCase{-13.2, -13.9, .694985, .610697, .453168}));

TEST(CalibrateNoul, IsHeldInsideTheClamp) {
  const double sure_yes = calibrate_noul(1.0, {});
  EXPECT_EQ(sure_yes, 0.9935388524996485);
  EXPECT_EQ(1 - sure_yes, 0.006461147500351538);
  const double sure_no = calibrate_noul(0.0, {});
  EXPECT_EQ(sure_no, 0.006461147500351798);
  EXPECT_EQ(1 - sure_no, 0.9935388524996482);
  EXPECT_TRUE(std::isnan(calibrate_noul(kNan, {})));
}

TEST(Argmax, TakesTheFirstAmongEqualsAndFollowsPythonOnNan) {
  EXPECT_EQ(argmax(std::vector{.2, .4, .4}), 1U);
  EXPECT_EQ(argmax(std::vector{0.0}), 0U);
  EXPECT_EQ(argmax(std::vector{.1, kNan, .3}), 2U);
  EXPECT_EQ(argmax(std::vector{kNan, .9}), 0U);
}

TEST(Confidence, ChoiceVectors) {
  const auto near = [](std::vector<double> p, double want) {
    EXPECT_NEAR(confidence_typesafe_choice(p), want, 1e-12);
  };
  near({.88, .12}, .76);
  near({.88, .12, 0}, .82);
  near({.61, .30, .09}, .415);
  near({.4, .2, .2, .2}, .20);
  near({.3}, 1);
  near({.98, .02}, .96);
}

TEST(Confidence, ScoreVectorsAndExpectations) {
  const auto near = [](std::vector<double> p, double confidence, double mean) {
    EXPECT_NEAR(confidence_typesafe_score(p), confidence, 6e-7);
    EXPECT_NEAR(expectation(p), mean, 1e-12);
  };
  near({.005, .005, .04, .25, .7}, .695833, 3.635);
  near({0, .95, .05}, .925, 1.05);
  near({0, .57, .43}, .355, 1.43);
  near({0, .48, .52, 0}, .52, 1.52);
  near({0, 0, .86, .14, 0}, .883333, 2.14);
  near({0, .04, .75, .21}, .75, 2.17);
  near({.5, 0, .5}, 0, 1.0);
  near({.25, .25, .25, .25}, 0, 1.5);
  near({1}, 1, 0);
}

TEST(Confidence, EntropyAndMargin) {
  const std::vector<double> p = {.88, .12, 0};
  EXPECT_NEAR(confidence_entropy(p), 0.6660104797138697, 1e-15);
  EXPECT_NEAR(margin_top2(p), .76, 1e-15);
  EXPECT_EQ(confidence_entropy(std::vector{1.0}), 1);
  EXPECT_EQ(confidence_entropy(std::vector{0.0, 1.0}), 1);
  EXPECT_EQ(confidence_entropy(std::vector{.5, .5}), 0);
  EXPECT_EQ(margin_top2(std::vector{.4, .4, .2}), 0);
  EXPECT_EQ(margin_top2(std::vector{1.0}), 1);
}

std::vector<std::size_t> sizes(std::size_t n, std::size_t limit = 52) {
  std::vector<std::size_t> out;
  std::size_t next = 0;
  for (const Group& group : tournament_groups(n, limit)) {
    EXPECT_EQ(group.first, next);
    next = group.last;
    out.push_back(group.last - group.first);
  }
  EXPECT_EQ(next, n);
  return out;
}

using Sizes = std::vector<std::size_t>;

TEST(Tournament, GroupsAreAsEqualAsPossible) {
  EXPECT_EQ(sizes(53), (Sizes{27, 26}));
  EXPECT_EQ(sizes(104), (Sizes{52, 52}));
  EXPECT_EQ(sizes(105), (Sizes{35, 35, 35}));
  EXPECT_EQ(sizes(255), (Sizes{51, 51, 51, 51, 51}));
  EXPECT_EQ(sizes(60), (Sizes{30, 30}));
  EXPECT_EQ(sizes(157), (Sizes{40, 39, 39, 39}));
  EXPECT_EQ(sizes(10, 3), (Sizes{3, 3, 2, 2}));
  EXPECT_EQ(sizes(52), (Sizes{52}));
  EXPECT_EQ(sizes(1), (Sizes{1}));
  EXPECT_EQ(sizes(0), (Sizes{}));
}

TEST(Tournament, NoGroupIsOverTheLimitOrTwoFromAnother) {
  for (std::size_t n = 1; n <= 600; ++n) {
    const Sizes all = sizes(n);
    EXPECT_EQ(all.size(), (n + 51) / 52);
    EXPECT_LE(all.front(), 52U);
    EXPECT_LE(all.front() - all.back(), 1U);
  }
}

std::vector<double> tournament(const std::vector<double>& logits, std::size_t limit, double t) {
  std::vector<std::vector<double>> groups;
  std::vector<double> winners;
  for (const Group& group : tournament_groups(logits.size(), limit)) {
    const std::span<const double> inside =
        std::span(logits).subspan(group.first, group.last - group.first);
    groups.push_back(softmax(inside, t));
    winners.push_back(inside[argmax(inside)]);
  }
  return combine_tournament(groups, softmax(winners, t));
}

TEST(Tournament, IsExactWhenLogitsDoNotDependOnContext) {
  const std::vector<double> logits = {1, .2, 2, -1};
  expect_near(tournament(logits, 2, 1.0), {.232399, .104424, .631726, .031452}, 6e-7);
  expect_near(tournament(logits, 2, .85), {.211498, .082520, .685870, .020111}, 6e-7);
  expect_near(tournament(logits, 3, .85), {.211498, .082520, .685870, .020111}, 6e-7);
}

TEST(Tournament, OfSixtySumsToOneAndEqualsTheFlatSoftmax) {
  std::vector<double> logits;
  for (int i = 0; i < 60; ++i) logits.push_back(std::sin(i * 1.7) * 3);
  const auto p = tournament(logits, 52, .85);
  expect_near(p, softmax(logits, .85), 1e-12);
  EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-12);
}

TEST(Tournament, AGroupWithoutProbabilityTakesNone) {
  const auto p = combine_tournament({{0, 0}, {.5, .5}}, std::vector{.5, .5});
  EXPECT_EQ(p, (std::vector{0.0, 0.0, .5, .5}));
}

TEST(Variant, NamesReadBack) {
  for (const char* name :
       {"raw-sum", "raw-mean", "raw-bytes", "prior-sum", "prior-mean", "prior-bytes"}) {
    const auto variant = parse_variant(name);
    ASSERT_TRUE(variant) << name;
    EXPECT_EQ(to_string(*variant), name);
  }
  EXPECT_EQ(parse_variant("sum"), std::nullopt);
  EXPECT_EQ(parse_variant("raw-sum "), std::nullopt);
}

TEST(OptionScores, DivideByTheTextsOwnLength) {
  const std::vector<TextScore> texts = {{-6, 3, 12}, {-4, 1, 8}};
  const std::vector<std::optional<TextScore>> priors = {TextScore{-9, 3, 12},
                                                        TextScore{-4.5, 1, 8}};
  const auto scores = [&](const char* name) {
    return option_scores(texts, priors, *parse_variant(name)).value();
  };
  EXPECT_EQ(scores("raw-sum"), (std::vector{-6.0, -4.0}));
  EXPECT_EQ(scores("raw-mean"), (std::vector{-2.0, -4.0}));
  EXPECT_EQ(scores("raw-bytes"), (std::vector{-.5, -.5}));
  EXPECT_EQ(scores("prior-sum"), (std::vector{3.0, .5}));
  EXPECT_EQ(scores("prior-mean"), (std::vector{1.0, .5}));
  EXPECT_EQ(scores("prior-bytes"), (std::vector{.25, .0625}));
}

TEST(OptionScores, NoneWithoutThePriorOrTheLengthTheyNeed) {
  const std::vector<TextScore> texts = {{-6, 3, 12}, {-4, 0, 0}};
  const std::vector<std::optional<TextScore>> one = {TextScore{-9, 3, 12}, std::nullopt};
  EXPECT_EQ(option_scores(texts, one, {.prior = true}), std::nullopt);
  EXPECT_EQ(option_scores(texts, {}, {.prior = true}), std::nullopt);
  EXPECT_EQ(option_scores(texts, {}, {.norm = Norm::Mean}), std::nullopt);
  EXPECT_EQ(option_scores(texts, {}, {.norm = Norm::Bytes}), std::nullopt);
  EXPECT_EQ(option_scores(texts, {}, {})->size(), 2U);
  EXPECT_TRUE(option_scores({}, {}, {})->empty());
}

}  // namespace
}  // namespace deem::decision

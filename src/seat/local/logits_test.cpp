#include "seat/local/logits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace deem::seat::local {
namespace {

// The textbook form in double precision.
double slow_log_sum_exp(const std::vector<float>& x) {
  const double top = static_cast<double>(*std::max_element(x.begin(), x.end()));
  double sum = 0;
  for (const float value : x) sum += std::exp(static_cast<double>(value) - top);
  return top + std::log(sum);
}

TEST(LogSumExp, AgreesWithDoublePrecisionAtEveryLength) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(-2.0F, 6.0F);
  for (const std::size_t n : {1U, 2U, 15U, 16U, 17U, 255U, 256U, 257U, 1000U, 49152U}) {
    std::vector<float> x(n);
    for (float& value : x) value = normal(random);
    EXPECT_NEAR(log_sum_exp(x), slow_log_sum_exp(x), 1e-7) << n;
  }
}

TEST(LogSumExp, IsExactWhereItIsKnown) {
  EXPECT_DOUBLE_EQ(log_sum_exp(std::vector<float>{-3.5F}), -3.5);
  EXPECT_NEAR(log_sum_exp(std::vector<float>(1024, 2.0F)), 2.0 + 10.0 * std::numbers::ln2, 1e-12);
  EXPECT_NEAR(log_sum_exp(std::vector<float>{0.0F, -200.0F}), 0.0, 1e-12);
}

TEST(LogSumExp, LeavesOutMinusInfinityAndPassesOnNaN) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  EXPECT_DOUBLE_EQ(log_sum_exp(std::vector<float>{1.0F, -kInf}), 1.0);
  EXPECT_EQ(log_sum_exp(std::vector<float>{-kInf, -kInf}),
            -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(log_sum_exp(std::vector<float>{1.0F, kNaN, 2.0F})));
  EXPECT_TRUE(std::isnan(log_sum_exp(std::vector<float>{kNaN, kNaN})));
  EXPECT_TRUE(std::isnan(log_sum_exp(std::vector<float>{kInf, 0.0F})));
}

TEST(ScoreRow, ProbabilitiesSumToOne) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0.0F, 3.0F);
  std::vector<float> x(4099);
  for (float& value : x) value = normal(random);
  const ScoreRow row{x, log_sum_exp(x)};
  double total = 0;
  for (Token token = 0; token < 4099; ++token) total += std::exp(row.logprob(token));
  EXPECT_NEAR(total, 1.0, 1e-7);
}

TEST(TopTokens, HighestFirstAndLowerIdAmongEquals) {
  const std::vector<float> x = {1.0F, 5.0F, 3.0F, 5.0F, -1.0F};
  EXPECT_EQ(top_tokens(x, 3), (std::vector<Token>{1, 3, 2}));
  EXPECT_EQ(top_tokens(x, 9), (std::vector<Token>{1, 3, 2, 0, 4}));
  EXPECT_TRUE(top_tokens(x, 0).empty());
}

}  // namespace
}  // namespace deem::seat::local

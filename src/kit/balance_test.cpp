#include "kit/balance.h"

#include <gtest/gtest.h>

namespace deem::kit {
namespace {

/// A task of `n` options whose gold stands counts[i] times at position i.
Task task_with(std::vector<std::size_t> counts, std::size_t n) {
  Task task{.name = "t", .readings = {}, .items = {}};
  for (std::size_t position = 0; position < counts.size(); ++position) {
    for (std::size_t k = 0; k < counts[position]; ++k) {
      Item item;
      for (std::size_t i = 0; i < n; ++i) {
        item.question.options.push_back({std::to_string(i), "", ""});
      }
      item.label = std::to_string(position);
      task.items.push_back(std::move(item));
    }
  }
  return task;
}

// Tables of the chi-square distribution, upper 0.1 %: 10.828, 18.467, 31.264 for 1, 4, 11 degrees.
TEST(Balance, CriticalPointsAreNearThoseOfTheTables) {
  EXPECT_NEAR(chi_square_critical(1) / 10.828, 1.0, 0.035);
  EXPECT_NEAR(chi_square_critical(4) / 18.467, 1.0, 0.015);
  EXPECT_NEAR(chi_square_critical(11) / 31.264, 1.0, 0.01);
}

TEST(Balance, ChiSquareOfAKnownSpread) {
  // 160 items on five positions, 32 expected: (16 + 9 + 4 + 36 + 81) / 32.
  const Balance balance = balance_of(task_with({28, 35, 30, 26, 41}, 5));
  EXPECT_NEAR(balance.chi_square, 146.0 / 32.0, 1e-9);
  EXPECT_FALSE(balance.badly_unbalanced());
}

TEST(Balance, GoldOnOnePositionIsBad) {
  const Balance balance = balance_of(task_with({40, 5, 5}, 3));
  EXPECT_TRUE(balance.badly_unbalanced());
  EXPECT_EQ(balance.text(), "A 40, B 5, C 5 (16.7, 16.7, 16.7 expected)");
}

TEST(Balance, SmallTiltOfALargeKitIsNot) {
  EXPECT_GT(balance_of(task_with({5400, 4600}, 2)).chi_square, chi_square_critical(1));
  EXPECT_FALSE(balance_of(task_with({5400, 4600}, 2)).badly_unbalanced());
}

TEST(Balance, FewItemsSayNothing) {
  EXPECT_FALSE(balance_of(task_with({19, 0}, 2)).badly_unbalanced());
  EXPECT_TRUE(balance_of(task_with({20, 0}, 2)).badly_unbalanced());
}

}  // namespace
}  // namespace deem::kit

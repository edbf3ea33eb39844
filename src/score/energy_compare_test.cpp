#include "score/energy_compare.h"

#include <gtest/gtest.h>

#include "score/energy_test_support.h"
#include "score/gate.h"

namespace deem::score {
namespace {

/// Ten seconds of work at `watts`, idle at 50 W around it, in `blocks` equal blocks of `rows`
/// decisions each, all of one task.
RunEnergy run(double watts, int blocks, std::int64_t rows, const std::string& arm = "a",
              const std::string& task = "t") {
  record::PowerSegment segment = between_idles(50, 50, watts);
  const double length = 10.0 / blocks;
  for (int i = 0; i < blocks; ++i) {
    add_block(segment, 10 + i * length, 10 + (i + 1) * length, rows, arm, task);
  }
  return energy_of(file_of(std::move(segment)));
}

TEST(CompareJoules, DifferenceAndRatioAreOfNetJoulesADecision) {
  // A: (200 − 50) W · 10 s for 10 decisions, B: (250 − 50) W · 10 s for 8.
  const RunEnergy x = run(200, 2, 5), y = run(250, 2, 4, "b");
  const ComparedJoules out = compare_joules({x, "a"}, {y, "b"});
  EXPECT_EQ(out.all.a, 150.0);
  EXPECT_EQ(out.all.b, 250.0);
  EXPECT_EQ(out.all.difference, 100.0);
  EXPECT_DOUBLE_EQ(*out.all.ratio, 250.0 / 150);
  EXPECT_FALSE(out.all.difference_95) << "two blocks";
  EXPECT_EQ(out.all.why, "");
  ASSERT_EQ(out.tasks.size(), 1U);
  EXPECT_EQ(out.tasks[0].task, "t");
  EXPECT_EQ(out.tasks[0].difference, 100.0);
}

TEST(CompareJoules, EqualBlocksGiveAnIntervalWithoutWidth) {
  const RunEnergy x = run(200, 5, 2), y = run(350, 5, 2);
  const ComparedJoules out = compare_joules({x, "a"}, {y, "a"});
  ASSERT_TRUE(out.all.ratio_95);
  EXPECT_DOUBLE_EQ(out.all.ratio_95->low, 2.0);
  EXPECT_DOUBLE_EQ(out.all.ratio_95->high, 2.0);
  EXPECT_DOUBLE_EQ(out.all.difference_95->low, 150.0);
}

TEST(CompareJoules, TheIntervalCoversWhatResampledBlocksCanGive) {
  // B's blocks of 2 s hold one decision or nine: between 300 J / 9 and 300 J a decision.
  record::PowerSegment segment = between_idles(50, 50, 200);
  for (int i = 0; i < 5; ++i) add_block(segment, 10 + 2 * i, 12 + 2 * i, i % 2 == 0 ? 1 : 9);
  const RunEnergy x = run(200, 5, 1), y = energy_of(file_of(std::move(segment)));
  const JoulesPair all = compare_joules({x, "a"}, {y, "a"}).all;
  EXPECT_EQ(all.a, 300.0);
  EXPECT_DOUBLE_EQ(*all.b, 1500.0 / 21);
  ASSERT_TRUE(all.ratio_95);
  EXPECT_LT(all.ratio_95->low, *all.ratio);
  EXPECT_GT(all.ratio_95->high, *all.ratio);
  EXPECT_GE(all.ratio_95->low, 1.0 / 9);
  EXPECT_LE(all.ratio_95->high, 1.0);
}

TEST(CompareJoules, SaysWhyThereIsNoDifference) {
  const RunEnergy x = run(200, 1, 10), none = energy_not_measured("no board");
  EXPECT_EQ(compare_joules({x, "a"}, {none, "a"}).all.why, "joules of B are not measured");
  EXPECT_EQ(compare_joules({x, "a"}, {x, "a"}).all.why,
            "both are of one arm, whose joules are of all its readings together");
  record::PowerSegment bare = trace(0, 30, 0.125, {{.watts = constant(100)}});
  add_block(bare, 10, 20, 5);
  const RunEnergy no_idle = energy_of(file_of(std::move(bare)));
  const JoulesPair pair = compare_joules({no_idle, "a"}, {x, "a"}).all;
  EXPECT_EQ(pair.why, "net joules of A are not valid: idle was not read before it");
  EXPECT_FALSE(pair.ratio);
  EXPECT_TRUE(pair.b_valid);
}

TEST(CompareJoules, OtherSharesOfTasksAreNotPooled) {
  const auto mixed = [](std::int64_t first, std::int64_t second) {
    record::PowerSegment segment = between_idles(50, 50, 200);
    add_block(segment, 10, 15, first, "a", "t");
    add_block(segment, 15, 20, second, "a", "u");
    return energy_of(file_of(std::move(segment)));
  };
  const RunEnergy even = mixed(50, 50), near = mixed(52, 48), far = mixed(20, 80);
  EXPECT_EQ(compare_joules({even, "a"}, {near, "a"}).all.why, "");
  const ComparedJoules out = compare_joules({even, "a"}, {far, "a"});
  EXPECT_NE(out.all.why.find("other shares"), std::string::npos);
  EXPECT_FALSE(out.all.difference);
  ASSERT_EQ(out.tasks.size(), 2U);
  EXPECT_DOUBLE_EQ(*out.tasks[0].ratio, 2.5);  // 750 J ÷ 20 over 750 J ÷ 50
}

TEST(JoulesGate, HoldsFailsOrIsNotMeasured) {
  const RunEnergy x = run(200, 2, 5), y = run(215, 2, 5);  // 150 and 165 J a decision
  const JoulesPair pair = compare_joules({x, "a"}, {y, "a"}).all;
  const auto check = [](const char* text, const JoulesPair& joules) {
    return check_gate(parse_gate(text).value(), Comparison{}, &joules);
  };
  EXPECT_TRUE(check("joules<=1.11x", pair).holds);
  EXPECT_FALSE(check("joules<=1.09x", pair).holds);
  EXPECT_DOUBLE_EQ(check("joules<=1.09x", pair).value, 1.1);
  EXPECT_TRUE(check("joules<=+15", pair).holds);
  EXPECT_TRUE(check("joules>=165", pair).holds);
  const JoulesPair idle = compare_joules({run(50, 2, 5), "a"}, {y, "a"}).all;
  EXPECT_EQ(idle.a, 0.0);
  EXPECT_FALSE(idle.ratio);
  EXPECT_EQ(check("joules<=1.1x", idle).why, "net joules of A are not above 0");
  const RunEnergy none = energy_not_measured("no board");
  const JoulesPair lacking = compare_joules({none, "a"}, {y, "a"}).all;
  EXPECT_FALSE(check("joules<=1.1x", lacking).measured);
  EXPECT_EQ(check("joules<=1.1x", lacking).why, "joules of A are not measured");
  EXPECT_TRUE(check("joules<=200", lacking).holds) << "B stands by itself";
  const JoulesPair neither = compare_joules({none, "a"}, {none, "b"}).all;
  EXPECT_EQ(check("joules<=200", neither).why, "joules of B are not measured");
  EXPECT_FALSE(check_gate(parse_gate("joules<=1").value(), Comparison{}).measured);
}

}  // namespace
}  // namespace deem::score

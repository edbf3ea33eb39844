#include <gtest/gtest.h>

#include "score/energy.h"
#include "score/energy_test_support.h"

namespace deem::score {
namespace {

/// Arm a answered four decisions in two blocks of 1000 J each, all between two idle windows of 50
/// W.
RunEnergy measured() {
  record::PowerSegment segment = between_idles(50, 50, 200);
  add_block(segment, 10, 15, 2, "a", "t");
  add_block(segment, 15, 20, 2, "a", "u");
  return energy_of(file_of(std::move(segment)));
}

/// The first two of task t, the rest of u.
std::vector<record::Row> answered(const std::string& arm, int n) {
  std::vector<record::Row> out(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].arm = arm;
    out[i].task = i < 2 ? "t" : "u";
  }
  return out;
}

TEST(RunEnergy, ARunWhoseArmsAllHaveJoulesKeepsItsSum) {
  RunEnergy energy = measured();
  auto rows = answered("a", 5);
  rows[0].status = record::Row::Status::Refused;
  hold_against_run(energy, std::vector<ArmStatus>{{"a", "ok"}}, rows);
  EXPECT_EQ(energy.all.gross_j, 2000.0);
  EXPECT_EQ(energy.all.net_j, 1500.0);
  EXPECT_TRUE(energy.all.reasons.empty());
  EXPECT_TRUE(energy.unmeasured.empty());
  ASSERT_NE(energy.task("a", "u"), nullptr);
  EXPECT_EQ(energy.task("a", "u")->gross_j, 1000.0);
  EXPECT_EQ(energy.task("a", "v"), nullptr);
}

TEST(RunEnergy, AnArmWithoutJoulesMakesTheSumOfTheRunUnknownAndLeavesTheOthers) {
  RunEnergy energy = measured();
  hold_against_run(energy, std::vector<ArmStatus>{{"a", "ok"}, {"far", "not measured (no board)"}},
                   answered("a", 4));
  EXPECT_FALSE(energy.all.gross_j);
  EXPECT_FALSE(energy.all.net_j);
  EXPECT_FALSE(energy.all.mean_w);
  EXPECT_EQ(codes(energy.all.reasons), "arm_missing");
  EXPECT_EQ(energy.all.reasons[0].text, "arm far: joules not measured (no board)");
  EXPECT_EQ(energy.arm("a")->gross_j, 2000.0);
}

TEST(RunEnergy, RowsOfAnArmWithoutBlocksAreSaid) {
  RunEnergy energy = measured();
  auto rows = answered("a", 4);
  const auto others = answered("b", 1);
  rows.insert(rows.end(), others.begin(), others.end());
  hold_against_run(energy, {}, rows);
  ASSERT_EQ(energy.unmeasured.size(), 1U);
  EXPECT_EQ(energy.unmeasured[0].arm, "b");
  EXPECT_FALSE(energy.all.gross_j);
}

TEST(RunEnergy, ArmsThatTookTurnsHaveJoulesTogetherAndNoneOfTheirOwn) {
  record::PowerSegment segment = between_idles(50, 50, 200);
  add_block(segment, 10, 20, 4, "", "");
  RunEnergy energy = energy_of(file_of(segment));
  auto rows = answered("a", 2);
  const auto others = answered("b", 2);
  rows.insert(rows.end(), others.begin(), others.end());
  hold_against_run(energy, std::vector<ArmStatus>{{"a", "ok"}, {"b", "ok"}}, rows);
  EXPECT_EQ(energy.all.gross_j, 2000.0);
  EXPECT_TRUE(energy.all.net_valid());
  ASSERT_EQ(energy.unmeasured.size(), 2U);
  EXPECT_EQ(energy.unmeasured[0].status,
            "not measured (arms took turns in one block; --order block tells them apart)");
  rows.push_back(rows[0]);
  energy = energy_of(file_of(segment));
  hold_against_run(energy, {}, rows);
  EXPECT_EQ(codes(energy.all.reasons), "blocks_missing");
}

TEST(RunEnergy, JoulesOfBoardsTheModelWasNotOnAreNotItsOwn) {
  RunEnergy energy = measured();
  hold_against_run(energy,
                   std::vector<ArmStatus>{{"a", "ok", "board GPU-1 was named and holds 0 MiB"}},
                   answered("a", 4));
  EXPECT_EQ(codes(energy.arm("a")->reasons), "pin_failed");
  EXPECT_EQ(energy.arm("a")->reasons[0].text, "arm a: board GPU-1 was named and holds 0 MiB");
  EXPECT_FALSE(energy.arm("a")->gross_valid());
  EXPECT_FALSE(energy.task("a", "u")->net_valid());
  EXPECT_FALSE(energy.all.net_valid());
}

TEST(RunEnergy, MoreDecisionsInBlocksThanWereAnsweredAreSaid) {
  RunEnergy energy = measured();
  hold_against_run(energy, {}, answered("a", 3));
  EXPECT_EQ(codes(energy.arm("a")->reasons), "blocks_excess");
  EXPECT_EQ(codes(energy.all.reasons), "blocks_excess");
  EXPECT_EQ(energy.arm("a")->reasons[0].text, "arm a: joules cover 4 of its 3 answered decisions");
}

TEST(RunEnergy, AnArmOfWhichOver5PercentIsMissingIsNotValid) {
  RunEnergy energy = measured();
  hold_against_run(energy, {}, answered("a", 5));
  EXPECT_EQ(codes(energy.arm("a")->reasons), "blocks_missing");
}

TEST(RunEnergy, OtherBoardsThanTheRunTellsAreNotItsJoules) {
  RunEnergy energy = measured();
  hold_against_run(energy, std::vector<ArmStatus>{{"a", "ok", "", {"GPU-1"}}}, answered("a", 4));
  EXPECT_EQ(codes(energy.arm("a")->reasons), "boards_changed");
  energy = measured();
  hold_against_run(energy, std::vector<ArmStatus>{{"a", "ok", "", {"board-0"}}}, answered("a", 4));
  EXPECT_TRUE(energy.arm("a")->reasons.empty());
}

TEST(RunEnergy, DecisionsOutsideOfBlocksMakeTheSumUnknown) {
  RunEnergy energy = measured();
  hold_against_run(energy, {}, answered("a", 7));
  EXPECT_FALSE(energy.all.gross_j);
  EXPECT_EQ(energy.all.reasons.at(0).text, "arm a: joules cover 4 of its 7 answered decisions");
  EXPECT_EQ(energy.arm("a")->gross_per_decision(), 500.0);
}

TEST(RunEnergy, ANotMeasuredRunStaysSo) {
  RunEnergy energy = energy_not_measured("no board");
  hold_against_run(energy, std::vector<ArmStatus>{{"a", "not measured (no board)"}},
                   answered("a", 1));
  EXPECT_EQ(energy.status, "not measured (no board)");
  EXPECT_EQ(energy.unmeasured.size(), 1U);
  EXPECT_TRUE(energy.all.reasons.empty());
}

TEST(Energy, ABoardThatDrawsAsAtRestHasNoNetJoulesNotTheRoundingOfThem) {
  EXPECT_EQ(block(between_idles(28.97, 28.97, 28.97), 10.1, 19.7).net_j, 0.0);
}

TEST(Energy, BlocksWithoutDecisionsDoNotSpoilTheInterval) {
  record::PowerSegment segment = between_idles(50, 50, 200);
  for (int i = 0; i < 5; ++i) add_block(segment, 10 + i, 11 + i, i == 0 ? 3 : 0);
  const RunEnergy energy = energy_of(file_of(std::move(segment)));
  const auto interval = energy.all.gross_per_decision_95;
  ASSERT_TRUE(interval);
  // Five blocks of 200 J drawn from five, k of them the one with three decisions: 1000 / 3k.
  EXPECT_NEAR(interval->high, 1000.0 / 3, 1e-9);
  EXPECT_GE(interval->low, 1000.0 / 15);
}

}  // namespace
}  // namespace deem::score

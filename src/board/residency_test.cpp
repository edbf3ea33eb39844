#include "board/residency.h"

#include <gtest/gtest.h>

namespace deem::board {
namespace {

constexpr int kOurs = 100, kRunner = 101, kOther = 200;
const std::vector<std::string> kCounted = {"GPU-a"};

Residency at(std::map<int, std::optional<double>> a, std::map<int, std::optional<double>> b = {}) {
  const auto sum = [](const auto& processes) {
    double out = 14;
    for (const auto& [pid, mib] : processes) out += mib.value_or(0);
    return out;
  };
  return {.boards = {{"GPU-a", sum(a), a}, {"GPU-b", sum(b), b}}, .told = true};
}

TEST(Drift, NothingChanged) {
  const Residency same = at({{kOurs, 8000}, {kOther, 500}});
  EXPECT_TRUE(drift_between(same, same, {kOurs}, kCounted).empty());
  // A cache that breathes is no drift.
  EXPECT_TRUE(drift_between(same, at({{kOurs, 8199}, {kOther, 500}}), {kOurs}, kCounted).empty());
}

TEST(Drift, ANeighbourComesOrGrowsOnACountedBoard) {
  const Residency then = at({{kOurs, 8000}});
  const auto came = drift_between(then, at({{kOurs, 8000}, {kOther, 5120}}), {kOurs}, kCounted);
  ASSERT_EQ(came.size(), 1U);
  EXPECT_TRUE(came[0].neighbour);
  EXPECT_EQ(came[0].board, "GPU-a");
  EXPECT_EQ(came[0].says, "process 200 came and holds 5120 MiB");
  const auto untold = drift_between(then, at({{kOurs, 8000}, {kOther, {}}}), {kOurs}, kCounted);
  ASSERT_EQ(untold.size(), 1U);
  EXPECT_EQ(untold[0].says, "process 200 came and holds memory, not told how much");
  const auto grew = drift_between(at({{kOurs, 8000}, {kOther, 500}}),
                                  at({{kOurs, 8000}, {kOther, 900}}), {kOurs}, kCounted);
  ASSERT_EQ(grew.size(), 1U);
  EXPECT_EQ(grew[0].says, "process 200 grew by 400 MiB");
}

TEST(Drift, ANeighbourElsewhereIsNone) {
  EXPECT_TRUE(
      drift_between(at({{kOurs, 8000}}), at({{kOurs, 8000}}, {{kOther, 9000}}), {kOurs}, kCounted)
          .empty());
}

TEST(Drift, TheSeatLoadsAnotherModelOrLeaves) {
  const auto second = drift_between(at({{kOurs, 8000}}), at({{kOurs, 8000}, {kRunner, 4000}}),
                                    {kOurs, kRunner}, kCounted);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_FALSE(second[0].neighbour);
  EXPECT_EQ(second[0].says, "the seat's own memory grew by 4000 MiB");
  const auto moved = drift_between(at({{kOurs, 8000}}), at({}, {{kOurs, 8000}}), {kOurs}, kCounted);
  ASSERT_EQ(moved.size(), 2U);
  EXPECT_EQ(moved[0].board, "GPU-a");
  EXPECT_EQ(moved[0].says, "the seat's own memory fell by 8000 MiB");
  EXPECT_EQ(moved[1].board, "GPU-b");
  EXPECT_EQ(moved[1].says, "the seat's own memory grew by 8000 MiB");
}

TEST(Drift, WithoutProcessesOnlyMemoryInUseIsCompared) {
  Residency then = at({{kOurs, 8000}}), now = at({{kOurs, 8000}, {kOther, 300}}, {{kOther, 9000}});
  const auto unknown = drift_between(then, now, {}, kCounted);
  ASSERT_EQ(unknown.size(), 1U);
  EXPECT_EQ(unknown[0].board, "GPU-a");
  EXPECT_EQ(unknown[0].says, "memory in use grew by 300 MiB, by whom is not told");
  EXPECT_FALSE(unknown[0].neighbour);
  now.boards[0].used_mib.reset();
  EXPECT_TRUE(drift_between(then, now, {}, kCounted).empty());
}

TEST(Residency, LeavesCpusOutAndCountsAProcessOnce) {
  std::vector<BoardInfo> boards(2);
  boards[0].id = "rapl:package-0";
  boards[1].id = "GPU-a";
  boards[1].memory_used_mib = 700;
  std::vector<BoardProcess> processes(2);
  for (BoardProcess& process : processes) {
    process.board = "GPU-a";
    process.pid = kOurs;
    process.used_mib = 600;
  }
  processes[1].kind = BoardProcess::Kind::Graphics;
  const Residency residency = residency_of(boards, processes, true);
  ASSERT_EQ(residency.boards.size(), 1U);
  EXPECT_EQ(residency.boards[0].processes.at(kOurs), 600);
  EXPECT_EQ(residency.boards[0].used_mib, 700);
}

}  // namespace
}  // namespace deem::board

#include "board/watch.h"

#include <gtest/gtest.h>

namespace deem::board {
namespace {

struct GridCase {
  const char* name;
  std::uint64_t next;
  double now_s;
  std::uint64_t missed;
  double due_s;  // after it
};
class GridAdvance : public testing::TestWithParam<GridCase> {};

TEST_P(GridAdvance, GoesToTheFirstPointAfterNowAndCountsThosePassed) {
  Grid grid{.begin_s = 100, .period_s = 0.5, .next = GetParam().next};
  EXPECT_EQ(grid.advance(GetParam().now_s), GetParam().missed);
  EXPECT_EQ(grid.due_s(), GetParam().due_s);
}

INSTANTIATE_TEST_SUITE_P(Table, GridAdvance,
                         testing::Values(GridCase{"InTime", 0, 100.1, 0, 100.5},
                                         GridCase{"JustInTime", 3, 101.999, 0, 102},
                                         GridCase{"AtTheNextPoint", 0, 100.5, 1, 101},
                                         GridCase{"TwoLate", 2, 102.25, 2, 102.5},
                                         GridCase{"ClockBeforeBegin", 0, 99, 0, 100.5},
                                         GridCase{"TenDaysLate", 0, 864'100.25, 1'728'000,
                                                  864'100.5}),
                         [](const auto& p) { return p.param.name; });

TEST(GridDue, HasNoDriftOfSummedPeriods) {
  Grid grid{.begin_s = 0, .period_s = 0.1, .next = 0};
  std::uint64_t missed = 0;
  for (int i = 0; i < 100'000; ++i) missed += grid.advance(0);
  EXPECT_EQ(missed, 0U);
  EXPECT_DOUBLE_EQ(grid.due_s(), 10'000);  // sums of 0.1 are 2e-8 off by then
}

BoardInfo info(const std::string& id, const std::string& source = "nvml") {
  BoardInfo out;
  out.id = id;
  out.source = source;
  return out;
}

struct Board {
  std::optional<double> energy_j;
  std::string error = {};
  std::optional<std::int64_t> processes = {};
};

/// A tick's events as "what board count", each followed by ";".
std::string see(Watch& watch, const std::vector<Board>& boards) {
  Readings readings;
  for (const Board& board : boards) {
    record::PowerReading reading;
    reading.energy_j = board.energy_j;
    reading.processes = board.processes;
    readings.boards.push_back(reading);
    readings.errors.push_back(board.error);
  }
  std::string out;
  for (const record::PowerEvent& event : watch.see(readings, 7.5)) {
    EXPECT_EQ(event.mono_s, 7.5);
    out += event.what + " " + event.board + " " + std::to_string(event.count) + ";";
  }
  return out;
}

class Watched : public testing::Test {
 protected:
  Watch watch{std::vector<BoardInfo>{info("A"), info("B"), info("P", "rapl")}};
};

TEST_F(Watched, NothingIsToldWhileCountersGoOn) {
  EXPECT_EQ(see(watch, {{10}, {20}, {30}}), "");
  EXPECT_EQ(see(watch, {{10}, {21}, {31}}), "") << "one that stands still has not gone back";
}

TEST_F(Watched, OneCounterThatWentBackIsThatBoardsReset) {
  see(watch, {{10}, {20}, {30}});
  EXPECT_EQ(see(watch, {{1}, {21}, {31}}), "counter_reset A 0;");
  EXPECT_EQ(see(watch, {{2}, {22}, {32}}), "") << "told once";
}

TEST_F(Watched, AllCountersOfASourceThatWentBackAreItsDriversReload) {
  see(watch, {{10}, {20}, {30}});
  EXPECT_EQ(see(watch, {{1}, {0}, {31}}), "driver_reload A 0;driver_reload B 0;");
}

TEST_F(Watched, ABoardWithoutACounterDoesNotSpeakAgainstAReload) {
  see(watch, {{10}, {{}}, {30}});
  EXPECT_EQ(see(watch, {{1}, {{}}, {31}}), "driver_reload A 0;");
}

TEST_F(Watched, AProcessorsCounterHasNoDriverToReload) {
  see(watch, {{10}, {20}, {30}});
  EXPECT_EQ(see(watch, {{11}, {21}, {5}}), "counter_reset P 0;");
}

TEST_F(Watched, LostAndBackAreToldOnceEach) {
  see(watch, {{10}, {20}, {30}});
  EXPECT_EQ(see(watch, {{{}, "GPU is lost"}, {21}, {31}}), "board_lost A 0;");
  EXPECT_EQ(see(watch, {{{}, "GPU is lost"}, {22}, {32}}), "");
  EXPECT_EQ(see(watch, {{12}, {23}, {33}}), "board_back A 0;");
}

TEST_F(Watched, WhatACounterDidWhileLostIsSeenWhenItIsBack) {
  see(watch, {{10}, {20}, {30}});
  see(watch, {{{}, "GPU is lost"}, {21}, {31}});
  EXPECT_EQ(see(watch, {{3}, {22}, {32}}), "board_back A 0;counter_reset A 0;");
}

TEST_F(Watched, ABoardLostFromTheBeginIsTold) {
  EXPECT_EQ(see(watch, {{{}, "GPU is lost"}, {20}, {30}}), "board_lost A 0;");
}

TEST_F(Watched, AnotherNumberOfProcessesIsToldWithTheNewOne) {
  see(watch, {{10, "", 1}, {20, "", 0}, {30}});
  EXPECT_EQ(see(watch, {{11, "", 3}, {21, "", 0}, {31}}), "process A 3;");
  EXPECT_EQ(see(watch, {{12, "", {}}, {22, "", 1}, {32}}), "process B 1;")
      << "not told is no change";
  EXPECT_EQ(see(watch, {{13, "", 3}, {23, "", 0}, {33}}), "process B 0;");
}

}  // namespace
}  // namespace deem::board

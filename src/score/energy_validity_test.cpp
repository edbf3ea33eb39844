#include <gtest/gtest.h>

#include "score/energy.h"
#include "score/energy_test_support.h"

namespace deem::score {
namespace {

using record::PowerMark;
using record::PowerReading;
using record::PowerSegment;
constexpr auto kIdleBefore = PowerMark::Kind::IdleBefore;
constexpr auto kIdleAfter = PowerMark::Kind::IdleAfter;

TEST(Energy, AGapOverThreePeriodsIsAReason) {
  const auto hole = [](double from, double to) {
    return [=](double t) { return t > from && t < to ? std::nullopt : std::optional(100.0); };
  };
  const EnergyFigures bad = block(trace(0, 20, 0.125, {{.watts = hole(5, 5.5)}}), 2, 12);
  EXPECT_EQ(codes(bad.reasons), "gap idle_missing");
  EXPECT_EQ(bad.reasons[0].text, "board-0 was not read for 0.5 s, over 3 periods of 0.125 s");
  EXPECT_EQ(bad.gross_j, 1000.0);
  const EnergyFigures good = block(trace(0, 20, 0.125, {{.watts = hole(5, 5.375)}}), 2, 12);
  EXPECT_EQ(codes(good.reasons), "idle_missing");
}

TEST(Energy, ADecisionOf40MsByOneReadingASecondIsTooShort) {
  const EnergyFigures f = block(trace(0, 20, 1, {{.watts = constant(100)}}), 5.5, 5.54);
  EXPECT_EQ(codes(f.reasons), "window_short few_samples idle_missing");
  EXPECT_EQ(f.reasons[0].text, "it lasts 0.04 s, under 10 periods of 1 s");
  EXPECT_FALSE(f.gross_valid());
}

TEST(Energy, TheBoardsOwnReadingPeriodCountsNotTheGrid) {
  PowerSegment segment = trace(0, 20, 0.125, {{.watts = constant(100)}});
  EXPECT_EQ(codes(block(segment, 2, 7).reasons), "idle_missing");
  segment.boards[0].reading_period_s = 1;
  EXPECT_EQ(codes(block(segment, 2, 7).reasons), "window_short idle_missing");
}

TEST(Energy, IdleDriftsByOverATenthAndOver5W) {
  const auto drifts = [](double before, double after) {
    return codes(block(between_idles(before, after, 200), 10, 20).reasons);
  };
  EXPECT_EQ(drifts(50, 60), "idle_drifted");  // 10 W, a tenth of the mean is 5.5 W
  EXPECT_EQ(drifts(60, 50), "idle_drifted");
  EXPECT_EQ(drifts(20, 24), "");    // under 5 W
  EXPECT_EQ(drifts(100, 108), "");  // under a tenth
  const EnergyFigures f = block(between_idles(50, 60, 200), 10, 20);
  EXPECT_TRUE(f.gross_valid());
  EXPECT_FALSE(f.net_valid());
  EXPECT_EQ(f.net_j, 1450.0);
}

TEST(Energy, WithoutIdleAfterTheFigureIsGivenAndNotValid) {
  PowerSegment segment = between_idles(50, 54, 200);
  segment.marks.pop_back();
  segment.marks.pop_back();
  const EnergyFigures f = block(segment, 10, 20);
  EXPECT_EQ(f.net_j, 1500.0);
  EXPECT_EQ(codes(f.reasons), "idle_missing");
  EXPECT_EQ(f.reasons[0].text, "idle was not read after it");
}

TEST(Energy, ACounterThatFellIsAReloadedDriverNotNegativeEnergy) {
  const auto reloaded = [](double t) { return std::optional(t < 8 ? 5000 + 100 * t : t); };
  const EnergyFigures f =
      block(trace(0, 20, 0.125, {{.watts = constant(100), .joules = reloaded}}), 2, 12);
  EXPECT_FALSE(f.counter_j);
  EXPECT_EQ(f.gross_j, 1000.0);
  EXPECT_EQ(codes(f.reasons), "driver_reload idle_missing");
  EXPECT_FALSE(f.gross_valid());
  // Before and after the reload all is well.
  const EnergyFigures after =
      block(trace(0, 20, 0.125, {{.watts = constant(1), .joules = reloaded}}), 8, 18);
  EXPECT_EQ(after.counter_j, 10.0);
  EXPECT_EQ(codes(after.reasons), "idle_missing");
}

TEST(Energy, ANeighbourOnTheBoardIsAReason) {
  const auto joins = [](PowerReading reading, double t) {
    reading.processes = t < 6 ? 1 : 2;
    return reading;
  };
  PowerSegment segment = trace(0, 30, 0.125, {{.watts = constant(100), .rest = joins}});
  add_window(segment, kIdleBefore, 0, 2);
  add_window(segment, kIdleAfter, 28, 30);
  add_block(segment, 2, 12);
  add_block(segment, 12, 22);  // it is still there
  const RunEnergy energy = energy_of(file_of(segment));
  EXPECT_EQ(codes(energy.blocks[0].reasons), "other_process idle_disturbed");
  EXPECT_EQ(energy.blocks[0].reasons[0].text, "board-0 had 2 processes, before it 1");
  EXPECT_EQ(codes(energy.blocks[1].reasons), "other_process");
  EXPECT_EQ(codes(energy.blocks[1].notes), "several_processes");
  EXPECT_EQ(codes(energy.all.reasons), "other_process idle_disturbed");
}

TEST(Energy, EventsInTheWindowAreReasons) {
  for (const auto& [what, code] : {std::pair("process", "other_process"),
                                   {"driver_reload", "driver_reload"},
                                   {"counter_reset", "driver_reload"},
                                   {"board_lost", "board_lost"},
                                   {"missed", ""}}) {
    PowerSegment segment = between_idles(50, 50, 200);
    record::PowerEvent event;
    event.what = what;
    event.mono_s = 15;
    event.board = "board-0";
    segment.events = {event};
    EXPECT_EQ(codes(block(segment, 10, 20).reasons), code) << what;
    segment.events[0].mono_s = 21;
    EXPECT_EQ(codes(block(segment, 10, 20).reasons), "") << what;
  }
}

struct ClockCase {
  const char* name;
  std::uint64_t bits;
  const char *reasons, *notes;
};
class ClockReasons : public testing::TestWithParam<ClockCase> {};

TEST_P(ClockReasons, OfOneReadingInTheBlock) {
  PowerSegment segment = between_idles(50, 50, 200);
  segment.samples[120].boards[0].clock_reasons = GetParam().bits;  // at 15 s
  const EnergyFigures f = block(segment, 10, 20);
  EXPECT_EQ(codes(f.reasons), GetParam().reasons);
  EXPECT_EQ(codes(f.notes), GetParam().notes);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ClockReasons,
    testing::Values(ClockCase{"None", 0, "", ""}, ClockCase{"Idle", 0x1, "", ""},
                    ClockCase{"ApplicationClocks", 0x2, "", ""},
                    ClockCase{"SoftwarePowerCap", 0x4, "", "power_cap"},
                    ClockCase{"HardwareSlowdown", 0x8, "throttled", ""},
                    ClockCase{"SyncBoost", 0x10, "", ""},
                    ClockCase{"SoftwareThermal", 0x20, "throttled", ""},
                    ClockCase{"HardwareThermal", 0x40, "throttled", ""},
                    ClockCase{"PowerBrakeAtTheCap", 0x84, "throttled", "power_cap"}),
    [](const auto& p) { return p.param.name; });

TEST(Energy, AFaultInATwentiethOfTheTimeOrLessIsANote) {
  const auto with_faults = [](int faults) {
    PowerSegment segment = trace(0, 500, 0.125, {{.watts = constant(100)}});
    for (int i = 0; i < 40; ++i) {
      add_block(segment, 12.0 * i, 12.0 * i + 10);
      if (i < faults) {
        segment.samples[static_cast<std::size_t>(96 * i + 40)].boards[0].clock_reasons = 0x40;
      }
    }
    return energy_of(file_of(segment)).arms.at(0);
  };
  EXPECT_EQ(codes(with_faults(2).reasons), "idle_missing");  // 5 %
  EXPECT_EQ(codes(with_faults(2).notes), "throttled");
  EXPECT_EQ(with_faults(2).notes[0].text,
            "board-0 was slowed down (clock reasons 0x40) (2 of 40 blocks, 5 % of the time)");
  EXPECT_EQ(codes(with_faults(3).reasons), "throttled idle_missing");
}

TEST(Energy, WhatSpoilsAnIdleWindowSpoilsNet) {
  const auto idle_with = [](const std::function<PowerReading(PowerReading, double)>& rest) {
    PowerSegment segment = between_idles(50, 50, 200);
    for (auto& sample : segment.samples) {
      sample.boards[0] = rest(sample.boards[0], sample.mono_s);
    }
    return block(segment, 10, 20);
  };
  // Two processes at rest, one at work: what the other drew was taken off.
  const EnergyFigures company = idle_with([](PowerReading reading, double t) {
    reading.processes = t < 6 ? 2 : 1;
    return reading;
  });
  EXPECT_EQ(codes(company.reasons), "idle_disturbed");
  EXPECT_EQ(company.reasons[0].text, "idle before it: board-0 had 2 processes, in it 1");
  EXPECT_TRUE(company.gross_valid());
  EXPECT_FALSE(company.net_valid());
  const EnergyFigures hot = idle_with([](PowerReading reading, double t) {
    reading.clock_reasons = t > 24 ? 0x40 : 0x1;
    return reading;
  });
  EXPECT_EQ(codes(hot.reasons), "idle_disturbed");
  const EnergyFigures hole = idle_with([](PowerReading reading, double t) {
    if (t > 1 && t < 4) reading.watts.reset();
    return reading;
  });
  EXPECT_EQ(codes(hole.reasons), "idle_disturbed");
}

TEST(Energy, NetBelowZeroIsNotValid) {
  const EnergyFigures f = block(between_idles(60, 60, 50), 10, 20);
  EXPECT_EQ(f.net_j, -100.0);
  EXPECT_EQ(codes(f.reasons), "net_negative");
  EXPECT_TRUE(f.gross_valid());
}

TEST(Energy, BlocksThatOverlapCountJoulesTwice) {
  PowerSegment segment = between_idles(50, 50, 200);
  add_block(segment, 10, 20, 1, "a", "t");
  add_block(segment, 14, 18, 1, "b", "t");
  const RunEnergy energy = energy_of(file_of(std::move(segment)));
  EXPECT_TRUE(energy.blocks[0].reasons.empty());
  EXPECT_EQ(codes(energy.blocks[1].reasons), "blocks_overlap");
  EXPECT_EQ(codes(energy.all.reasons), "blocks_overlap");
}

TEST(Energy, AGapThatACounterCountsThroughIsANote) {
  const auto watts = [](double t) {
    return t > 12 && t < 12.6 ? std::nullopt : std::optional(200.0);
  };
  const auto joules = [](double t) { return std::optional(200 * t); };
  PowerSegment segment = trace(0, 30, 0.125, {{.watts = watts, .joules = joules}});
  const EnergyFigures f = block(std::move(segment), 10, 20);
  EXPECT_EQ(codes(f.reasons), "idle_missing");
  EXPECT_EQ(codes(f.notes), "gap_counted");
  EXPECT_EQ(f.gross_j, 2000.0);
}

TEST(Energy, OneArmOnOtherBoardsHasNoSum) {
  PowerSegment first = between_idles(50, 50, 200), second = first;
  second.boards[0].id = "another";
  add_block(first, 10, 20, 1, "a", "t");
  add_block(second, 10, 20, 1, "a", "t");
  record::PowerFile file = file_of(std::move(first));
  file.segments.push_back(std::move(second));
  const RunEnergy energy = energy_of(file);
  EXPECT_EQ(codes(energy.arm("a")->reasons), "boards_differ");
  EXPECT_EQ(codes(energy.all.reasons), "") << "arms of other seats have other boards";
  EXPECT_EQ(codes(energy.all.notes), "boards_differ");
}

TEST(Energy, ANeighbourThatCameIsAReasonTheSeatsOwnMemoryANote) {
  PowerSegment segment = between_idles(50, 54, 200);
  segment.events.push_back({"neighbour", "board-0", 20, 0, "process 7 came and holds 500 MiB"});
  const EnergyFigures f = block(segment, 10, 20);
  EXPECT_EQ(codes(f.reasons), "other_process");
  EXPECT_EQ(f.reasons[0].text, "board-0: process 7 came and holds 500 MiB");
  segment.events[0].what = "residency";
  const EnergyFigures own = block(segment, 10, 20);
  EXPECT_TRUE(own.net_valid());
  EXPECT_EQ(codes(own.notes), "residency");
}

}  // namespace
}  // namespace deem::score

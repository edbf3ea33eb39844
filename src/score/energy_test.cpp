#include "score/energy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "score/energy_test_support.h"

namespace deem::score {
namespace {

using record::PowerMark;
using record::PowerReading;
using record::PowerSegment;
constexpr auto kIdleBefore = PowerMark::Kind::IdleBefore;
constexpr auto kIdleAfter = PowerMark::Kind::IdleAfter;

std::string codes(const std::vector<EnergyReason>& reasons) {
  std::string out;
  for (const EnergyReason& reason : reasons) out += (out.empty() ? "" : " ") + reason.code;
  return out;
}

/// Figures of the only block from `begin` to `end` of a trace.
EnergyFigures block(PowerSegment segment, double begin, double end, std::int64_t rows = 1) {
  add_block(segment, begin, end, rows);
  const RunEnergy energy = energy_of(file_of(std::move(segment)));
  EXPECT_EQ(energy.blocks.size(), 1U);
  return energy.blocks.at(0);
}

/// `watts` while working from 10 s to 20 s; idle read before (0 to 5 s) and after (25 to 30 s).
PowerSegment between_idles(double before, double after, double watts,
                           std::function<std::optional<double>(double)> joules = {}) {
  const auto power = [=](double t) {
    return std::optional(t < 7 ? before : t < 22 ? watts : after);
  };
  PowerSegment segment = trace(0, 30, 0.125, {{.watts = power, .joules = std::move(joules)}});
  add_window(segment, kIdleBefore, 0, 5);
  add_window(segment, kIdleAfter, 25, 30);
  return segment;
}

TEST(Energy, ConstantPowerIntegratesExactly) {
  const EnergyFigures f = block(trace(0, 20, 0.125, {{.watts = constant(100)}}), 2.03125, 12.03125);
  EXPECT_EQ(f.gross_j, 1000.0);
  EXPECT_EQ(f.mean_w, 100.0);
  EXPECT_EQ(f.peak_w, 100.0);
  EXPECT_EQ(f.seconds, 10.0);
  EXPECT_EQ(codes(f.reasons), "idle_missing");
  EXPECT_TRUE(f.gross_valid());
  EXPECT_FALSE(f.net_valid());
  EXPECT_FALSE(f.counter_j);
  EXPECT_FALSE(f.counter_ratio);
}

TEST(Energy, EdgesAreInterpolated) {
  // w = t from 2.5 s to 12.5 s: (12.5² − 2.5²) / 2.
  const auto ramp = [](double t) { return std::optional(t); };
  EXPECT_EQ(block(trace(0, 20, 1, {{.watts = ramp}}), 2.5, 12.5).gross_j, 75.0);
  EXPECT_EQ(block(trace(0, 20, 1, {{.watts = ramp}}), 3, 13).gross_j, 80.0);
}

TEST(Energy, ASineIsIntegratedToATenthOfAPercent) {
  const double w = 2 * std::numbers::pi / 4;  // a period of 4 s, 10 readings a second
  const auto sine = [w](double t) { return std::optional(200 + 100 * std::sin(w * t)); };
  const double exact = 200 * 10.3 + 100 / w * (std::cos(w * 1.0) - std::cos(w * 11.3));
  const EnergyFigures f = block(trace(0, 20, 0.1, {{.watts = sine}}), 1, 11.3);
  ASSERT_TRUE(f.gross_j);
  EXPECT_NEAR(*f.gross_j / exact, 1, 0.001);
  EXPECT_NEAR(*f.peak_w, 300, 0.5);
}

TEST(Energy, TheSumIsTheSumOfTheIntegralsOfBoardsEachOverItsOwnReadings) {
  // The second board leaves out every second tick.
  const auto halved = [](double t) {
    return std::fmod(t, 0.25) == 0 ? std::optional(50.0) : std::nullopt;
  };
  const EnergyFigures f =
      block(trace(0, 20, 0.125, {{.watts = constant(100)}, {.watts = halved}}), 2, 12);
  EXPECT_EQ(f.gross_j, 1500.0);
  EXPECT_EQ(f.peak_w, 150.0);
  ASSERT_EQ(f.boards.size(), 2U);
  EXPECT_EQ(f.boards[0].gross_j, 1000.0);
  EXPECT_EQ(f.boards[0].samples, 81U);
  EXPECT_EQ(f.boards[1].gross_j, 500.0);
  EXPECT_EQ(f.boards[1].samples, 41U);
}

TEST(Energy, ASilentBoardMakesTheSumNotMeasuredNeverSmaller) {
  PowerSegment segment = trace(0, 20, 0.125, {{.watts = constant(100)}, {}});
  add_block(segment, 2, 12);
  const RunEnergy energy = energy_of(file_of(segment));
  EXPECT_FALSE(energy.all.gross_j);
  EXPECT_FALSE(energy.all.net_j);
  EXPECT_FALSE(energy.all.gross_valid());
  EXPECT_EQ(energy.all.boards[0].gross_j, 1000.0);
  EXPECT_EQ(energy.status,
            "not measured (board-1 has no readings over the whole of it: the sum is not measured)");
  EXPECT_FALSE(energy.measured());
}

TEST(Energy, ABoardThatFallsSilentMidwayIsNotMeasured) {
  const auto lost = [](double t) { return t < 8 ? std::optional(100.0) : std::nullopt; };
  EXPECT_FALSE(block(trace(0, 20, 0.125, {{.watts = lost}}), 2, 12).gross_j);
  // Up to three periods past its last reading the reading counts on.
  EXPECT_EQ(block(trace(0, 20, 0.125, {{.watts = lost}}), 2, 8.25).gross_j, 625.0);
}

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

TEST(Energy, WallClockJumpsDoNotMatter) {
  PowerSegment segment = trace(0, 20, 0.125, {{.watts = constant(100)}});
  for (std::size_t i = 80; i < segment.samples.size(); ++i) segment.samples[i].wall_s -= 3'600;
  EXPECT_EQ(block(segment, 2, 12).gross_j, 1000.0);
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

TEST(Energy, OneSampleOrNoneIsNoFigure) {
  PowerSegment one = trace(5, 5, 1, {{.watts = constant(100)}});
  EXPECT_FALSE(block(one, 2, 12).gross_j);
  EXPECT_EQ(codes(block(one, 2, 12).reasons), "no_readings few_samples gap idle_missing");
  PowerSegment none = one;
  none.samples.clear();
  EXPECT_FALSE(block(none, 2, 12).gross_j);
  none.boards.clear();
  EXPECT_EQ(energy_of(file_of(none)).status, "not measured (no board)");
  EXPECT_EQ(energy_of({}).status, "not measured (the power file has no readable heading)");
}

TEST(Energy, NetIsGrossLessTheMeanOfBothIdles) {
  const EnergyFigures f = block(between_idles(50, 54, 200), 10, 20, 8);
  EXPECT_EQ(f.idle_before_w, 50.0);
  EXPECT_EQ(f.idle_after_w, 54.0);
  EXPECT_EQ(f.gross_j, 2000.0);
  EXPECT_EQ(f.net_j, 1480.0);  // 2000 − 52 · 10
  EXPECT_EQ(f.gross_per_decision(), 250.0);
  EXPECT_EQ(f.net_per_decision(), 185.0);
  EXPECT_FALSE(f.net_per_prompt_token());
  EXPECT_EQ(codes(f.reasons), "");
  EXPECT_TRUE(f.net_valid());
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

TEST(Energy, CounterAndIntegralStandSideBySide) {
  const auto counting = [](double watts) {
    return [=](double t) { return std::optional(1000 + watts * t); };
  };
  const auto at = [&](double watts) {
    return block(trace(0, 20, 0.125, {{.watts = constant(100), .joules = counting(watts)}}),
                 2.03125, 12.03125);
  };
  EXPECT_EQ(at(104).counter_j, 1040.0);
  EXPECT_EQ(at(104).counter_ratio, 1.04);
  EXPECT_EQ(codes(at(104).reasons), "idle_missing");
  EXPECT_EQ(codes(at(106).reasons), "counter_disagrees idle_missing");
  EXPECT_EQ(codes(at(94).reasons), "counter_disagrees idle_missing");
  EXPECT_EQ(at(94).gross_j, 1000.0);
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

TEST(Energy, ACounterWithoutWattsGivesJoulesByItsDifferences) {
  const auto rapl = [](double t) {
    return std::optional(1e6 + (t <= 10 ? 30 * t : 300 + 50 * (t - 10)));
  };
  const EnergyFigures f = block(trace(0, 20, 0.125, {{.joules = rapl}}), 4, 14);
  EXPECT_EQ(f.gross_j, 380.0);  // 6 s · 30 W + 4 s · 50 W
  EXPECT_EQ(f.counter_j, 380.0);
  EXPECT_FALSE(f.counter_ratio);  // nothing else to hold it against
  EXPECT_EQ(f.peak_w, 50.0);
  EXPECT_EQ(codes(f.reasons), "idle_missing");
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
  EXPECT_EQ(codes(energy.blocks[0].reasons), "other_process");
  EXPECT_EQ(energy.blocks[0].reasons[0].text, "board-0 had 2 processes, before it 1");
  EXPECT_EQ(codes(energy.blocks[1].reasons), "other_process");
  EXPECT_EQ(codes(energy.blocks[1].notes), "several_processes");
  EXPECT_EQ(codes(energy.all.reasons), "other_process");
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

TEST(Energy, BlocksAddUpToTasksAndArms) {
  const auto power = [](double t) { return std::optional(t <= 20 ? 100.0 : 200.0); };
  PowerSegment segment = trace(0, 60, 0.125, {{.watts = power}});
  add_window(segment, kIdleBefore, 0, 5);   // 100 W
  add_window(segment, kIdleAfter, 55, 60);  // 200 W
  add_block(segment, 10, 20, 5, "a", "t");
  add_block(segment, 21, 31, 10, "a", "t");
  add_block(segment, 31, 41, 4, "a", "u");
  add_block(segment, 41, 51, 7, "a", "t", "order");
  add_block(segment, 51, 54, 0, "b", "t");
  for (std::size_t i = 4; i < segment.marks.size(); ++i) {
    segment.marks[i].has_prompt_tokens = segment.marks[i].arm == "a";
    segment.marks[i].prompt_tokens = 1'000;
  }
  const RunEnergy energy = energy_of(file_of(segment));
  ASSERT_EQ(energy.tasks.size(), 4U);
  EXPECT_EQ(energy.tasks[0].gross_j, 3000.0);
  EXPECT_EQ(energy.tasks[0].decisions, 15);
  EXPECT_EQ(energy.tasks[0].gross_per_decision(), 200.0);
  EXPECT_EQ(energy.tasks[0].prompt_tokens, 2'000);
  EXPECT_EQ(energy.tasks[0].gross_per_prompt_token(), 1.5);
  EXPECT_EQ(energy.tasks[0].net_j, 0.0);  // 3000 − 150 · 20
  EXPECT_EQ(energy.tasks[2].probe, "order");
  ASSERT_EQ(energy.arms.size(), 2U);  // plain blocks only
  EXPECT_EQ(energy.arms[0].gross_j, 5000.0);
  EXPECT_EQ(energy.arms[0].blocks, 3U);
  EXPECT_EQ(energy.arms[0].decisions, 19);
  EXPECT_EQ(energy.arm("b")->gross_j, 600.0);
  EXPECT_FALSE(energy.arm("b")->gross_per_decision());
  EXPECT_EQ(energy.arm("c"), nullptr);
  EXPECT_EQ(energy.all.gross_j, 7600.0);
  EXPECT_EQ(energy.all.decisions, 26);
  EXPECT_FALSE(energy.all.prompt_tokens);
  EXPECT_EQ(energy.all.seconds, 43.0);
  EXPECT_FALSE(energy.arms[0].gross_per_decision_95);
}

TEST(Energy, FiveBlocksGiveAnIntervalFourNone) {
  const auto with_blocks = [](int n) {
    PowerSegment segment = trace(0, 100, 0.125, {{.watts = constant(100)}});
    for (int i = 0; i < n; ++i) add_block(segment, 12.0 * i, 12.0 * i + 10, 4);
    return energy_of(file_of(segment)).arms.at(0);
  };
  EXPECT_FALSE(with_blocks(4).gross_per_decision_95);
  const EnergyFigures five = with_blocks(5);
  ASSERT_TRUE(five.gross_per_decision_95);
  EXPECT_EQ(five.gross_per_decision_95->low, 250.0);  // all blocks are equal
  EXPECT_EQ(five.gross_per_decision_95->high, 250.0);
  EXPECT_FALSE(five.net_per_decision_95);
}

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

TEST(Energy, ShortBlocksOneAfterTheOtherAreOneStretch) {
  PowerSegment segment = trace(0, 20, 0.125, {{.watts = constant(100)}});
  for (int i = 0; i < 8; ++i) add_block(segment, 2 + 0.5 * i, 2.5 + 0.5 * i);
  EXPECT_EQ(codes(energy_of(file_of(segment)).arms[0].reasons), "idle_missing");
  EXPECT_EQ(energy_of(file_of(segment)).arms[0].gross_j, 400.0);
  PowerSegment apart = trace(0, 20, 0.125, {{.watts = constant(100)}});
  for (int i = 0; i < 8; ++i) add_block(apart, 2 + 1.0 * i, 2.5 + 1.0 * i);
  EXPECT_EQ(codes(energy_of(file_of(apart)).arms[0].reasons), "window_short idle_missing");
}

TEST(Energy, ACutBlockIsCountedAndLeftOut) {
  PowerSegment segment = between_idles(50, 50, 200);
  add_block(segment, 10, 15);
  add_block(segment, 15, 20);
  segment.marks.pop_back();  // killed
  const RunEnergy energy = energy_of(file_of(segment));
  EXPECT_EQ(energy.all.gross_j, 1000.0);
  ASSERT_EQ(energy.notes.size(), 1U);
  EXPECT_EQ(energy.notes[0], "1 window was cut off and left out: begin or end is missing");
}

TEST(Energy, SittingsAddUpEachWithItsOwnIdle) {
  record::PowerFile file;
  for (const double idle : {50.0, 80.0}) {
    PowerSegment segment = between_idles(idle, idle, 200);
    add_block(segment, 10, 20, 10);
    file.segments.push_back(segment);
  }
  const RunEnergy energy = energy_of(file);
  EXPECT_EQ(energy.all.gross_j, 4000.0);
  EXPECT_EQ(energy.all.net_j, 2700.0);
  EXPECT_EQ(energy.all.idle_before_w, 65.0);
  EXPECT_TRUE(energy.all.net_valid());
}

TEST(Energy, LoadsAreApart) {
  PowerSegment segment = between_idles(50, 50, 200);
  add_window(segment, PowerMark::Kind::Load, 8, 9, "seat");
  add_block(segment, 10, 20);
  const RunEnergy energy = energy_of(file_of(segment));
  ASSERT_EQ(energy.loads.size(), 1U);
  EXPECT_EQ(energy.loads[0].gross_j, 200.0);
  EXPECT_EQ(energy.loads[0].arm, "seat");
  EXPECT_EQ(energy.all.gross_j, 2000.0);
}

TEST(Energy, AThousandDecisionsOf12JCostATenthOfACentAt30Cents) {
  EXPECT_DOUBLE_EQ(per_thousand_decisions(12, 0.30), 0.001);  // 12,000 J are 1/300 kWh
}

}  // namespace
}  // namespace deem::score

#include "report/energy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "report/energy_parts.h"
#include "report/power_plot.h"
#include "report/test_energy.h"
#include "report/test_rows.h"

namespace deem::report {
namespace {

Heading heading_with(RunJoules joules, EnergyPrice price = {}) {
  Heading out;
  out.energy.push_back(std::move(joules));
  out.price = price;
  return out;
}

TEST(JoulesText, HasThreeDigitsAtLeast) {
  EXPECT_EQ(joules(std::nullopt), "–");
  EXPECT_EQ(joules(0), "0");
  EXPECT_EQ(joules(0.01234), "0.0123");
  EXPECT_EQ(joules(1), "1.00");
  EXPECT_EQ(joules(99.9), "99.9");
  EXPECT_EQ(joules(99.96), "100");
  EXPECT_EQ(joules(-12.345), "-12.3");
  EXPECT_EQ(joules(3'600'000), "3600000");
  EXPECT_EQ(joules(2.5e9), "2.5e+09");
}

TEST(PinText, SaysWhereOrWhatIsWrong) {
  EXPECT_EQ(
      pin_text({.arm = "a", .status = "ok", .method = "growth", .boards = {"GPU-a", "GPU-b"}}),
      "ok by growth on GPU-a, GPU-b");
  EXPECT_EQ(pin_text({.status = "finding", .findings = {"one", "two"}, .notes = {"a neighbour"}}),
            "finding: one; two; a neighbour");
  EXPECT_EQ(pin_text({.status = "not measured (no board)"}), "not measured (no board)");
  EXPECT_EQ(pin_text({.status = "not measured", .findings = {"no memory was told"}}),
            "not measured (no memory was told)");
  EXPECT_EQ(pin_text({.status = "finding", .findings = {"\033[31mred"}}).find('\033'),
            std::string::npos);
}

TEST(EnergyText, TheColumnIsNetAndMarksWhatIsNotValid) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 6, 4, 0.8);
  const score::Scores scores = score::score_rows(rows);
  Heading heading = heading_with(hand_made_joules("a", "t"));
  EXPECT_NE(as_text(scores, heading, 100, false).find(" 500\n"), std::string::npos);
  record::PowerFile power = hand_made_power("a", "t");
  std::erase_if(power.segments[0].marks, [](const record::PowerMark& mark) {
    return mark.kind == record::PowerMark::Kind::IdleAfter;
  });
  heading.energy[0].energy = score::energy_of(power);
  const std::string text = as_text(scores, heading, 100, false);
  EXPECT_NE(text.find(" 500?\n"), std::string::npos) << text;
  EXPECT_NE(text.find("a on t: net joules are not valid: idle was not read after it"),
            std::string::npos)
      << text;
  heading.energy[0].energy = score::energy_not_measured("no board");
  const std::string none = as_text(scores, heading, 100, false);
  EXPECT_NE(none.find("     –\n"), std::string::npos) << none;
  EXPECT_NE(none.find("Energy\n  - joules not measured (no board)\n"), std::string::npos) << none;
  for (const std::string_view line : split(text, '\n')) {
    EXPECT_LE(count_code_points(line), 100U) << line;
  }
}

TEST(EnergyText, APriceIsByNetAndByGrossJoules) {
  // 500 J a decision: 500 000 / 3.6e6 kWh for 1,000 decisions; gross 600 J.
  const EnergyPrice price{.per_kwh = 0.36, .grams_per_kwh = 360};
  const Heading valid = heading_with(hand_made_joules("a", "t"), price);
  const auto tables = energy_tables(valid);
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_EQ(tables[2].rows.at(0), (std::vector<std::string>{"a", "t", "0.05", "0.06", "50", "60"}));
  record::PowerFile power = hand_made_power("a", "t");
  power.segments[0].marks.erase(power.segments[0].marks.begin(),
                                power.segments[0].marks.begin() + 2);  // idle before
  RunJoules run = hand_made_joules("a", "t");
  run.energy = score::energy_of(power);
  EXPECT_EQ(energy_tables(heading_with(run, price))[2].rows.at(0),
            (std::vector<std::string>{"a", "t", "0.05?", "0.06", "50?", "60"}));
}

TEST(EnergyText, JoulesOfSeveralReadingsAreSaidToBeTogether) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 6, 4, 0.8);
  for (record::Row& row : rows) row.readings["words"] = row.readings["letters"];
  const auto remarks =
      energy_remarks(score::score_rows(rows), heading_with(hand_made_joules("a", "t")));
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0], "a: joules are of all its readings together");
}

TEST(EnergyText, TheRunsSumIsUnknownWithAnArmThatHasNone) {
  RunJoules run = hand_made_joules("a", "t");
  std::vector<record::Row> rows_of_a(6);
  for (record::Row& row : rows_of_a) {
    row.arm = "a";
    row.task = "t";
  }
  score::hold_against_run(
      run.energy, std::vector<score::ArmStatus>{{"b", "not measured (far away)"}}, rows_of_a);
  const Heading heading = heading_with(run);
  const auto rows = energy_tables(heading).at(0).rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][4], "3000");
  EXPECT_EQ(rows[1][0], "the whole run");
  EXPECT_EQ(rows[1][3], "–");
  EXPECT_EQ(energy_remarks({}, heading),
            std::vector<std::string>{"arm b: joules not measured (far away)"});
}

TEST(EnergyJson, HoldsFiguresAndNullsForTheUnknown) {
  RunJoules run = hand_made_joules("a", "t");
  run.pins.push_back({.arm = "a", .status = "ok", .method = "growth", .boards = {"GPU-a"}});
  const codec::Json json = energy_json({run}, {.per_kwh = 0.36});
  const codec::Json& one = json.items().at(0);
  EXPECT_EQ(one.get_string("status"), "ok");
  const codec::Json& task = one.find("tasks")->items().at(0);
  EXPECT_EQ(task.get_double("gross_j"), 3600);
  EXPECT_EQ(task.get_double("net_j_per_decision"), 500);
  EXPECT_EQ(task.get_double("peak_w"), 300);
  EXPECT_EQ(task.get_bool("energy_valid"), true);
  EXPECT_NEAR(task.get_double("cost_per_1000").value_or(0), 0.05, 1e-12);
  EXPECT_EQ(task.find("co2_g_per_1000"), nullptr);
  EXPECT_TRUE(task.find("counter_j")->is_null());
  EXPECT_TRUE(task.find("net_j_per_prompt_token")->is_null());
  EXPECT_EQ(task.find("boards")->items().at(1).get_double("gross_j"), 1200);
  EXPECT_EQ(one.find("blocks")->items().at(0).get_double("begin_s"), 108);
  EXPECT_EQ(one.find("pins")->items().at(0).get_string("method"), "growth");
}

TEST(PowerPlot, KeepsEveryPeakOfALongTrace) {
  record::PowerSegment segment;
  segment.period_s = 0.1;
  segment.boards = {{.id = "GPU-a"}};
  for (int i = 0; i < 100'000; ++i) {
    record::PowerSample sample{.mono_s = i * 0.1, .wall_s = 0, .boards = {}};
    sample.boards.resize(1);
    sample.boards[0].watts = i == 12'345 ? 700.0 : i == 54'321 ? 5.0 : 100 + i % 7;
    segment.samples.push_back(sample);
  }
  record::PowerFile power;
  power.segments.push_back(std::move(segment));
  const std::vector<PowerPlot> plots = plot_power(power, "x");
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].highest_w, 700);
  ASSERT_EQ(plots[0].curves.size(), 1U) << "one board is its own sum";
  ASSERT_EQ(plots[0].curves[0].parts.size(), 1U);
  const auto& points = plots[0].curves[0].parts[0];
  EXPECT_LE(points.size(), 4 * (kPowerPlotPixels + 1));
  EXPECT_GE(points.size(), kPowerPlotPixels);
  const auto at = [&](double watts) {
    return std::ranges::find(points, watts, &PowerPlot::Point::watts);
  };
  ASSERT_NE(at(700), points.end());
  EXPECT_NEAR(at(700)->t, 1234.5, 1e-6);
  ASSERT_NE(at(5), points.end());
  EXPECT_NEAR(at(5)->t, 5432.1, 1e-6);
  EXPECT_TRUE(std::ranges::is_sorted(points, {}, &PowerPlot::Point::t));
  EXPECT_LT(as_svg(plots[0], "x").size(), 100'000U);
}

TEST(PowerPlot, BreaksCurvesWhereReadingsAreMissing) {
  record::PowerFile power = hand_made_power("a", "t");
  for (auto& sample : power.segments[0].samples) {
    if (sample.mono_s > 110 && sample.mono_s < 113) sample.boards[1].watts = std::nullopt;
  }
  const PowerPlot plot = plot_power(power, "x").at(0);
  ASSERT_EQ(plot.curves.size(), 3U);
  EXPECT_TRUE(plot.curves[0].sum);
  EXPECT_EQ(plot.curves[0].parts.size(), 2U) << "no sum without one of the boards";
  EXPECT_EQ(plot.curves[1].parts.size(), 1U);
  EXPECT_EQ(plot.curves[2].parts.size(), 2U);
}

TEST(PowerPlot, MarksBlocksAndIdleWindowsInTheirPlace) {
  const PowerPlot plot = plot_power(hand_made_power("a", "t"), "x").at(0);
  EXPECT_EQ(plot.begin_s, 100);
  EXPECT_EQ(plot.length_s, 28);
  ASSERT_EQ(plot.windows.size(), 3U);
  EXPECT_EQ(plot.windows[0].label, "idle before");
  EXPECT_EQ(plot.windows[1].label, "a · t");
  EXPECT_EQ(plot.windows[1].from, 8);
  EXPECT_EQ(plot.windows[1].to, 20);
  EXPECT_EQ(describe(plot), "2 boards for 28.0 s, 300.0 W at most; 1 block, idle read 2 times");
  const std::string svg = as_svg(plot, "a title");
  EXPECT_NE(svg.find("role=\"img\" aria-label=\"a title\""), std::string::npos);
  // 8 s of 28 over 680 pixels from 50 on, then 20 s.
  EXPECT_NE(svg.find("class=\"window block\" d=\"M244.3 4H535.7V"), std::string::npos) << svg;
  EXPECT_NE(svg.find(">power in W</text>"), std::string::npos);
  EXPECT_NE(svg.find(">time in s</text>"), std::string::npos);
}

TEST(PowerPlot, ThousandsOfBlocksAreDrawnAsFewAsCanBeSeen) {
  record::PowerFile power = hand_made_power("a", "t");
  for (int i = 0; i < 5'000; ++i) {
    add_window(power.segments[0], record::PowerMark::Kind::Block, 108 + i * 0.002,
               108.002 + i * 0.002, i % 2 == 0 ? "b" : "c", "t", 1);
  }
  const PowerPlot plot = plot_power(power, "x").at(0);
  EXPECT_NE(describe(plot).find("5001 blocks"), std::string::npos);
  EXPECT_LT(as_svg(plot, "x").size(), 300'000U);
}

TEST(PowerPlot, LeavesOutSegmentsWithoutReadings) {
  record::PowerFile power = hand_made_power("a", "t");
  power.segments.emplace_back();
  record::PowerSegment silent = power.segments[0];
  for (auto& sample : silent.samples) sample.boards.clear();
  power.segments.push_back(silent);
  power.segments.push_back(power.segments[0]);
  const auto plots = plot_power(power, "x");
  ASSERT_EQ(plots.size(), 2U);
  EXPECT_EQ(plots[1].segment, 3U);
}

}  // namespace
}  // namespace deem::report

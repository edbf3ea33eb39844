#include "record/power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "record/stamp.h"

namespace deem::record {
namespace {

PowerSegment two_boards() {
  PowerSegment segment;
  segment.boot_id = "3f2a9c1e-0000-4000-8000-000000000001";
  segment.period_s = 0.1;
  PowerBoard gpu;
  gpu.id = "GPU-aaaa";
  gpu.name = "Board A";
  gpu.pci = "00000000:06:00.0";
  gpu.source = "nvml";
  gpu.cap_w = 250;
  gpu.reading_period_s = 0.1;
  gpu.has_counter = true;
  PowerBoard cpu;
  cpu.id = "rapl:package-0";
  cpu.source = "rapl";
  cpu.has_counter = true;
  segment.boards = {gpu, cpu};
  return segment;
}

constexpr std::string_view kHeading =
    R"({"schema":"deem.power/1","boot_id":"3f2a9c1e-0000-4000-8000-000000000001","period_s":0.1,)"
    R"("boards":[{"id":"GPU-aaaa","name":"Board A","pci":"00000000:06:00.0","source":"nvml",)"
    R"("cap_w":250.0,"reading_period_s":0.1,"counter":true},)"
    R"({"id":"rapl:package-0","name":"","pci":"","source":"rapl","counter":true}]})";

std::string file_of(std::initializer_list<std::string_view> lines) {
  std::string out;
  for (const std::string_view line : lines) out.append(line).append("\n");
  return out;
}

PowerReading full_reading() {
  PowerReading gpu;
  gpu.watts = 187.231;
  gpu.energy_j = 102938.123;
  gpu.memory_mib = 22310;
  gpu.utilisation_percent = 87;
  gpu.temperature_c = 61;
  gpu.sm_mhz = 1695;
  gpu.clock_reasons = 4;
  gpu.processes = 1;
  return gpu;
}

PowerReading counter_only(double joules) {
  PowerReading cpu;
  cpu.energy_j = joules;
  return cpu;
}

TEST(PowerFormat, HeadingNamesSchemaBootPeriodAndBoards) {
  EXPECT_EQ(format_power_heading(two_boards()), kHeading);
}

TEST(PowerFormat, ASampleIsShortAndLeavesOutWhatWasNotTold) {
  PowerSample sample;
  sample.mono_s = 1234.5678901;
  sample.wall_s = 1796181083.9204;
  sample.boards = {full_reading(), counter_only(5012.25)};
  EXPECT_EQ(format_power_sample(sample, "3f2a9c1e-0000"),
            R"({"t":1234.56789,"u":1796181083.92,"b":"3f2a9c1e",)"
            R"("r":[[187.231,102938.123,22310,87,61,1695,4,1],[null,5012.25]]})");
  sample.boards = {PowerReading{}, counter_only(std::numeric_limits<double>::infinity())};
  EXPECT_EQ(format_power_sample(sample, ""),
            R"({"t":1234.56789,"u":1796181083.92,"b":"","r":[[],[null,null]]})");
}

TEST(PowerFormat, OnlyTheEndOfABlockCounts) {
  PowerMark mark;
  mark.mono_s = 12.5;
  mark.arm = "a";
  mark.task = "noul";
  mark.rows = 7;
  mark.has_prompt_tokens = true;
  mark.prompt_tokens = 900;
  EXPECT_EQ(format_power_mark(mark),
            R"({"t":12.5,"mark":"block","edge":"begin","arm":"a","task":"noul"})");
  mark.begin = false;
  mark.probe = "order";
  EXPECT_EQ(format_power_mark(mark),
            R"({"t":12.5,"mark":"block","edge":"end","arm":"a","task":"noul","probe":"order",)"
            R"("rows":7,"prompt_tokens":900})");
}

TEST(PowerFile, ReadsBackWhatItWrote) {
  const PowerSegment segment = two_boards();
  PowerSample first;
  first.mono_s = 100;
  first.wall_s = 1e9;
  first.boards = {full_reading(), counter_only(1)};
  PowerSample second;
  second.mono_s = 100.1;
  second.wall_s = 1e9 - 3600;  // the wall clock may go back
  second.boards = {PowerReading{}, counter_only(2)};
  PowerMark mark;
  mark.kind = PowerMark::Kind::IdleAfter;
  mark.begin = false;
  mark.mono_s = 100.05;
  PowerEvent event;
  event.what = "missed";
  event.count = 3;
  event.mono_s = 100.1;
  event.detail = "late";
  const PowerFile file = parse_power(
      file_of({format_power_heading(segment), format_power_sample(first, segment.boot_id),
               format_power_mark(mark), format_power_sample(second, segment.boot_id), "",
               format_power_event(event), format_power_heading(segment)}));
  EXPECT_TRUE(file.problems.empty()) << file.problems[0].message;
  EXPECT_FALSE(file.torn_tail);
  ASSERT_EQ(file.segments.size(), 2U);
  const PowerSegment& read = file.segments[0];
  EXPECT_EQ(read.boot_id, segment.boot_id);
  EXPECT_EQ(read.period_s, 0.1);
  EXPECT_EQ(read.boards, segment.boards);
  ASSERT_EQ(read.samples.size(), 2U);
  EXPECT_EQ(read.samples[0].boards, first.boards);
  EXPECT_EQ(read.samples[1].boards, second.boards);
  EXPECT_EQ(read.samples[1].mono_s, 100.1);
  EXPECT_EQ(read.samples[1].wall_s, 1e9 - 3600);
  ASSERT_EQ(read.marks.size(), 1U);
  EXPECT_EQ(read.marks[0].kind, PowerMark::Kind::IdleAfter);
  EXPECT_FALSE(read.marks[0].begin);
  ASSERT_EQ(read.events.size(), 1U);
  EXPECT_EQ(read.events[0].what, "missed");
  EXPECT_EQ(read.events[0].count, 3);
  EXPECT_EQ(read.events[0].detail, "late");
  EXPECT_TRUE(file.segments[1].samples.empty());
}

TEST(PowerFile, WhatAKilledWriterLeftIsATornTail) {
  const std::string sample = R"({"t":1,"u":1,"b":"3f2a9c1e","r":[[1],[]]})";
  const std::string good = file_of({kHeading, sample});
  for (std::size_t n = good.size() - sample.size(); n < good.size(); ++n) {
    const PowerFile file = parse_power(good.substr(0, n));
    EXPECT_TRUE(file.problems.empty()) << n;
    EXPECT_TRUE(file.segments[0].samples.empty()) << n;
  }
  EXPECT_EQ(parse_power(good).segments[0].samples.size(), 1U);
  EXPECT_FALSE(parse_power(good).torn_tail);
}

TEST(PowerFile, LinesUnderAnUnreadableHeadingBelongToNoBoards) {
  const std::string sample = R"({"t":1,"u":1,"b":"3f2a9c1e","r":[[1],[]]})";
  const PowerFile file =
      parse_power(file_of({sample, kHeading, sample, R"({"schema":"deem.power/9"})", sample}));
  ASSERT_EQ(file.segments.size(), 1U);
  EXPECT_EQ(file.segments[0].samples.size(), 1U);
  ASSERT_EQ(file.problems.size(), 3U);
  EXPECT_EQ(file.problems[0].line, 1U);
  EXPECT_EQ(file.problems[0].message, "no readable heading above it");
  EXPECT_EQ(file.problems[1].line, 4U);
  EXPECT_EQ(file.problems[1].message, "schema is not deem.power/1");
  EXPECT_EQ(file.problems[2].line, 5U);
}

struct BadLine {
  const char* name;
  const char* line;
  const char* message;  // a part of it
};
class BadPowerLine : public testing::TestWithParam<BadLine> {};

TEST_P(BadPowerLine, IsAProblemWithItsNumberAndTheRestIsRead) {
  const std::string before = R"({"t":5,"u":1,"b":"3f2a9c1e","r":[[1],[]]})";
  const std::string after = R"({"t":6,"u":1,"b":"3f2a9c1e","r":[[1],[]]})";
  const PowerFile file = parse_power(file_of({kHeading, before, GetParam().line, after}));
  ASSERT_EQ(file.segments.size(), 1U);
  EXPECT_EQ(file.segments[0].samples.size(), 2U);
  EXPECT_TRUE(file.segments[0].marks.empty());
  EXPECT_TRUE(file.segments[0].events.empty());
  ASSERT_EQ(file.problems.size(), 1U);
  EXPECT_EQ(file.problems[0].line, 3U);
  EXPECT_NE(file.problems[0].message.find(GetParam().message), std::string::npos)
      << file.problems[0].message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadPowerLine,
    testing::Values(
        BadLine{"NoJson", "nonsense", "line 1"}, BadLine{"NoObject", "[1,2]", "t is missing"},
        BadLine{"NaN", R"({"t":5.5,"u":1,"b":"3f2a9c1e","r":[[NaN],[]]})", "line 1"},
        BadLine{"HugeWatts", R"({"t":5.5,"u":1,"b":"3f2a9c1e","r":[[1e308],[]]})", "watts"},
        BadLine{"PastADouble", R"({"t":5.5,"u":1,"b":"3f2a9c1e","r":[[1e999],[]]})", "line 1"},
        BadLine{"NegativeWatts", R"({"t":5.5,"u":1,"b":"3f2a9c1e","r":[[-1],[]]})", "watts"},
        BadLine{"TextWatts", R"({"t":5.5,"u":1,"b":"3f2a9c1e","r":[["1"],[]]})", "watts"},
        BadLine{"HugeCounter", R"({"t":5.5,"u":1,"b":"3f2a9c1e","r":[[1,1e16],[]]})", "joules"},
        BadLine{"NinthValue", R"({"t":5.5,"u":1,"b":"3f2a9c1e","r":[[1,1,1,1,1,1,1,1,1],[]]})",
                "more than eight"},
        BadLine{"NegativeReasons", R"({"t":5.5,"u":1,"b":"3f2a9c1e","r":[[1,1,1,1,1,1,-4],[]]})",
                "clock reasons"},
        BadLine{"HugeTime", R"({"t":1e300,"u":1,"b":"3f2a9c1e","r":[[1],[]]})", "t is no number"},
        BadLine{"NoWall", R"({"t":5.5,"b":"3f2a9c1e","r":[[1],[]]})", "u is missing"},
        BadLine{"TimeStandsStill", R"({"t":5,"u":1,"b":"3f2a9c1e","r":[[1],[]]})", "not after"},
        BadLine{"AnotherBoot", R"({"t":5.5,"u":1,"b":"00000000","r":[[1],[]]})", "another boot"},
        BadLine{"ThreeBoards", R"({"t":5.5,"u":1,"b":"3f2a9c1e","r":[[1],[],[]]})", "3 readings"},
        BadLine{"ReadingsNoList", R"({"t":5.5,"u":1,"b":"3f2a9c1e","r":7})", "no list"},
        BadLine{"ReadingNoList", R"({"t":5.5,"u":1,"b":"3f2a9c1e","r":[1,2]})", "no list"},
        BadLine{"UnknownMark", R"({"t":5.5,"mark":"lunch","edge":"end"})", "mark"},
        BadLine{"MarkWithoutEdge", R"({"t":5.5,"mark":"block"})", "edge"},
        BadLine{"NegativeRows", R"({"t":5.5,"mark":"block","edge":"end","rows":-1})", "rows"},
        BadLine{"FractionOfARow", R"({"t":5.5,"mark":"block","edge":"end","rows":1.5})", "rows"},
        BadLine{"EventNoText", R"({"t":5.5,"event":3})", "event"}),
    [](const auto& p) { return p.param.name; });

TEST(PowerFile, RefusesBoardsWithoutNameTwiceOrPastAllSense) {
  const auto message = [](std::string_view boards) {
    const PowerFile file =
        parse_power(R"({"schema":"deem.power/1","boot_id":"","period_s":1,"boards":[)" +
                    std::string(boards) + "]}\n");
    return file.problems.size() == 1 && file.segments.empty() ? file.problems[0].message : "read";
  };
  EXPECT_NE(message(R"({"name":"x"})").find("id"), std::string::npos);
  EXPECT_EQ(message(R"({"id":"a"},{"id":"a"})"), "boards: a stands twice");
  std::string many;
  for (int i = 0; i < 1'025; ++i) {
    many += (i == 0 ? "{\"id\":\"" : ",{\"id\":\"") + std::to_string(i) + "\"}";
  }
  EXPECT_EQ(message(many), "more than 1024 boards");
  EXPECT_EQ(message(R"({"id":")" + std::string(1 << 20, 'x') + "\"}"), "longer than 1 MiB");
}

TEST(Stamp, IsReadAsPythonsStrptimeReadsIt) {
  const auto stamp = parse_stamp("2026/12/01 05:11:23.920");
  ASSERT_TRUE(stamp);
  // 2026-12-01T05:11:23Z: 20,788 days after 1970 (56 years with 14 leap days, then 334 days).
  EXPECT_EQ(stamp->seconds, 20'788LL * 86'400 + 5 * 3'600 + 11 * 60 + 23);
  EXPECT_EQ(stamp->microseconds, 920'000);
  EXPECT_EQ(parse_stamp("2026/1/2   3:4:5.000001")->microseconds, 1);
  EXPECT_EQ(parse_stamp("2024/02/29 00:00:00.0")->seconds, 1'709'164'800);
  for (const char* bad :
       {"2026/02/29 00:00:00.0", "2026/13/01 00:00:00.0", "2026/12/01 24:00:00.0",
        "2026/12/01 00:60:00.0", "2026/12/01 00:00:60.0", "2026/12/01 00:00:00",
        "2026/12/01 00:00:00.", "2026/12/01 00:00:00.1234567", "2026/12/01T00:00:00.0",
        "0000/12/01 00:00:00.0", "26/12/01 00:00:00.0", "2026/12/01 00:00:00.0 ", "", "[N/A]"}) {
    EXPECT_FALSE(parse_stamp(bad)) << bad;
  }
}

TEST(ReferenceWatts, PutsEveryBoardsLineAtItsStamp) {
  const auto file = parse_reference_watts(
      "GPU-b, 2026/12/01 05:12:49.306, 131.74, 22310, 0\n"
      "GPU-a, 2026/12/01 05:12:49.306, 164.15, 21904, 17\n"
      "GPU-b, 2026/12/01 05:12:50.306, 167.29, [N/A], 29\n"
      "GPU-a, 2026/12/01 05:12:50.307, [N/A], 21904, 46\n"
      "GPU-b, 2026/12/01 05:12:50.000, 1, 1, 1\n"
      "GPU-b, 2026/12/01 05:12:51.306, 1e308, 1, 1\n"
      "GPU-a, 2026/12/01 05:12:5");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->segments.size(), 1U);
  const PowerSegment& segment = file->segments[0];
  ASSERT_EQ(segment.boards.size(), 2U);
  EXPECT_EQ(segment.boards[0].id, "GPU-b");
  EXPECT_EQ(segment.boards[1].id, "GPU-a");
  ASSERT_EQ(segment.samples.size(), 2U);
  EXPECT_EQ(segment.samples[0].boards[0].watts, 131.74);
  EXPECT_EQ(segment.samples[0].boards[1].watts, 164.15);
  EXPECT_EQ(segment.samples[0].boards[1].memory_mib, 21904);
  EXPECT_EQ(segment.samples[1].boards[0].watts, 167.29);
  EXPECT_FALSE(segment.samples[1].boards[0].memory_mib);
  EXPECT_FALSE(segment.samples[1].boards[1].watts);
  EXPECT_NEAR(segment.samples[1].mono_s - segment.samples[0].mono_s, 1.0, 1e-6);
  ASSERT_EQ(file->problems.size(), 3U);
  EXPECT_EQ(file->problems[0].line, 4U);
  EXPECT_EQ(file->problems[1].line, 5U);
  EXPECT_EQ(file->problems[2].line, 6U);
  EXPECT_TRUE(file->torn_tail);
  EXPECT_FALSE(parse_reference_watts("uuid, timestamp, power.draw\n"));
  EXPECT_FALSE(parse_reference_watts(""));
}

}  // namespace
}  // namespace deem::record

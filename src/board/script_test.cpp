#include "board/script.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "board/sources.h"

namespace deem::board {
namespace {

std::string script(const std::string& boards) {
  return R"({"schema": "deem.boards-script/1", "boards": )" + boards + "}";
}
std::string board(const std::string& members) {
  return script(R"([{"id": "B0"}, {"id": "B1")" + (members.empty() ? "" : ", " + members) + "}]");
}

struct FaultCase {
  const char* name;
  std::string text;
  const char* says;
};
class ScriptFault : public testing::TestWithParam<FaultCase> {};

TEST_P(ScriptFault, IsToldWithItsPlace) {
  const auto boards = parse_boards_script(GetParam().text);
  ASSERT_FALSE(boards);
  EXPECT_EQ(boards.error().code, Error::Code::Corrupt);
  EXPECT_EQ(boards.error().message.substr(0, std::string(GetParam().says).size()), GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(
    Script, ScriptFault,
    testing::Values(FaultCase{"Empty", "", "line 1 column 1: "},
                    FaultCase{"Torn", script("[{"), "line 1 column "},
                    FaultCase{"NoObject", "[]", "script is no object"},
                    FaultCase{"NoSchema", "{}", "script.schema is not deem.boards-script/1"},
                    FaultCase{"NextSchema", R"({"schema": "deem.boards-script/2"})",
                              "script.schema is not deem.boards-script/1"},
                    FaultCase{"BoardsNoList", script("{}"), "script.boards is no list"},
                    FaultCase{"Unknown", R"({"schema": "deem.boards-script/1", "board": []})",
                              "script.board is not known"},
                    FaultCase{"BoardNoObject", script("[5]"), "boards[0] is no object"},
                    FaultCase{"NoId", script(R"([{"name": "x"}])"), "boards[0].id is missing"},
                    FaultCase{"IdTwice", script(R"([{"id": "A"}, {"id": "B"}, {"id": "A"}])"),
                              "boards[2].id is A, as that of a board before it"}),
    [](const auto& p) { return p.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Members, ScriptFault,
    testing::Values(FaultCase{"Unknown", board(R"("watts": 5)"), "boards[1].watts is not known"},
                    FaultCase{"Text", board(R"("name": 5)"), "boards[1].name is no text"},
                    FaultCase{"Number", board(R"("memory_total_mib": "5")"),
                              "boards[1].memory_total_mib is no number"},
                    FaultCase{"NumberTooLarge", board(R"("limit_max_w": 1e15)"),
                              "boards[1].limit_max_w is no number"},
                    FaultCase{"Whole", board(R"("link_width": 2.5)"),
                              "boards[1].link_width is no whole number"},
                    FaultCase{"WholeNegative", board(R"("clock_reasons": -1)"),
                              "boards[1].clock_reasons is no whole number"},
                    FaultCase{"WholeTooLarge", board(R"("link_generation": 99999999999999999999)"),
                              "boards[1].link_generation is no whole number"},
                    FaultCase{"Flag", board(R"("ecc": 1)"), "boards[1].ecc is not true or false"},
                    FaultCase{"CounterOfATypo", board(R"("counter": true, "powerw": 5)"),
                              "boards[1].powerw is not known"},
                    FaultCase{"CounterOfNothing", board(R"("counter": true)"),
                              "boards[1].counter needs power_w"},
                    FaultCase{"Resets", board(R"("counter_resets_s": [5, 4])"),
                              "boards[1].counter_resets_s wants ascending times"},
                    FaultCase{"ResetBeforeBegin", board(R"("counter_resets_s": [-1, 4])"),
                              "boards[1].counter_resets_s wants ascending times"},
                    FaultCase{"Lost", board(R"("lost_s": [5, 6])"), "boards[1].lost_s wants [["},
                    FaultCase{"LostBackwards", board(R"("lost_s": [[5, 3]])"),
                              "boards[1].lost_s wants [[from, until]"},
                    FaultCase{"LostThree", board(R"("lost_s": [[1, 2, 3]])"),
                              "boards[1].lost_s wants [["}),
    [](const auto& p) { return p.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Parts, ScriptFault,
    testing::Values(
        FaultCase{"WaveText", board(R"("power_w": "300")"),
                  "boards[1].power_w is neither a number nor an object"},
        FaultCase{"WaveEmpty", board(R"("power_w": {})"),
                  "boards[1].power_w wants a number, steps"},
        FaultCase{"WavePeriod", board(R"("power_w": {"mean": 1, "amplitude": 1, "period_s": 0})"),
                  "boards[1].power_w wants a number, steps"},
        FaultCase{"WaveUnknown", board(R"("power_w": {"mean": 1, "amplitude": 1, "period": 9})"),
                  "boards[1].power_w wants a number, steps"},
        FaultCase{"WaveTwoKinds", board(R"("power_w": {"steps": [[0, 1]], "mean": 1})"),
                  "boards[1].power_w.mean is not known"},
        FaultCase{"StepsEmpty", board(R"("memory_used_mib": {"steps": []})"),
                  "boards[1].memory_used_mib.steps wants [[time, value]"},
        FaultCase{"StepsBackwards", board(R"("power_w": {"steps": [[5, 1], [4, 2]]})"),
                  "boards[1].power_w.steps wants [[time, value]"},
        FaultCase{"InstanceId", board(R"("instances": [{"id": "M"}, {"name": "x"}])"),
                  "boards[1].instances[1].id is missing"},
        FaultCase{"InstanceMember", board(R"("instances": [{"id": "M", "pid": 1}])"),
                  "boards[1].instances[0].pid is not known"},
        FaultCase{"ProcessPid", board(R"("processes": [{"used_mib": 1}])"),
                  "boards[1].processes[0].pid is missing"},
        FaultCase{"ProcessKind", board(R"("processes": [{"pid": 1}, {"pid": 2, "kind": "game"}])"),
                  "boards[1].processes[1].kind is not compute, graphics or mps"},
        FaultCase{"ProcessSpan", board(R"("processes": [{"pid": 1, "from_s": 5, "until_s": 5}])"),
                  "boards[1].processes[0].until_s is not after from_s"}),
    [](const auto& p) { return p.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Hostile, ScriptFault,
    testing::Values(FaultCase{"Deep", std::string(100'000, '['), "line 1 column "},
                    FaultCase{"NotUtf8", board("\"name\": \"\xff\""), "line 1 column "},
                    FaultCase{"NotANumber", board("\"power_w\": NaN"), "line 1 column "},
                    FaultCase{"PastADouble", board("\"power_w\": 1e999"), "line 1 column "},
                    FaultCase{"ManyDigits", board("\"power_w\": " + std::string(400, '9')),
                              "boards[1].power_w is no number"},
                    FaultCase{"NullBytes", std::string(8, '\0'), "line 1 column "}),
    [](const auto& p) { return p.param.name; });

TEST(ScriptFaultText, IsOneShortLineWhateverTheKey) {
  for (const std::string& key : {std::string("\\u001b[2J\\n"), std::string(1 << 20, 'k')}) {
    const auto boards = parse_boards_script(board("\"" + key + "\": 1"));
    ASSERT_FALSE(boards);
    EXPECT_LT(boards.error().message.size(), 200U);
    EXPECT_EQ(boards.error().message.find_first_of("\x1b\n"), std::string::npos);
  }
  const auto twice = parse_boards_script(script(R"([{"id": "\u001b"}, {"id": "\u001b"}])"));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message.find('\x1b'), std::string::npos);
}

TEST(Script, NullIsNotTold) {
  const auto boards = parse_boards_script(board(R"("power_w": null, "ecc": null, "lost_s": [])"));
  ASSERT_TRUE(boards) << boards.error().message;
  EXPECT_FALSE(boards->at(1).power_w || boards->at(1).info.ecc);
  EXPECT_TRUE(boards->at(1).lost.empty());
}

TEST(WaveOf, AConstantIsTheSameAlways) {
  const Wave wave = Wave::constant(250);
  EXPECT_EQ(wave.at(0), 250);
  EXPECT_EQ(wave.at(1e6), 250);
  EXPECT_EQ(wave.integral(0), 0);
  EXPECT_EQ(wave.integral(4), 1000);
}

TEST(WaveOf, ASineHasItsMeanOverAPeriod) {
  const Wave wave = Wave::sine(300, 100, 10);
  EXPECT_NEAR(wave.at(0), 300, 1e-9);
  EXPECT_NEAR(wave.at(2.5), 400, 1e-9);
  EXPECT_NEAR(wave.at(7.5), 200, 1e-9);
  EXPECT_NEAR(wave.integral(10), 3000, 1e-9);
  // Half a period: 300 · 5 + 100 · (10 / 2π) · 2.
  EXPECT_NEAR(wave.integral(5), 1500 + 1000 / std::numbers::pi, 1e-9);
  double sum = 0;  // by the midpoint rule
  constexpr int kParts = 100'000;
  for (int i = 0; i < kParts; ++i) sum += wave.at(3.7 * (i + 0.5) / kParts) * 3.7 / kParts;
  EXPECT_NEAR(wave.integral(3.7), sum, 1e-6);
}

TEST(WaveOf, StepsHoldUntilTheNextAndTheFirstAlsoBefore) {
  const Wave wave = Wave::steps({{-3, 50}, {2, 100}, {5, 300}});
  EXPECT_EQ(wave.at(1.999), 50);
  EXPECT_EQ(wave.at(2), 100);
  EXPECT_EQ(wave.at(4.999), 100);
  EXPECT_EQ(wave.at(5), 300);
  EXPECT_EQ(wave.integral(2), 100);
  EXPECT_EQ(wave.integral(7), 100 + 300 + 600);
  const Wave late = Wave::steps({{5, 300}});
  EXPECT_EQ(late.at(0), 300);
  EXPECT_EQ(late.integral(2), 600);
}

/// A source on a clock that the test sets.
class Scripted : public testing::Test {
 protected:
  std::unique_ptr<Source> open(const std::string& text) {
    auto source = open_scripted(text, [this] { return now_s; });
    EXPECT_TRUE(source) << source.error().message;
    return std::move(*source);
  }
  record::PowerReading read(Source& source, double t_s) {
    now_s = t_s;
    return source.read(std::vector<std::string>{"B1"}).boards.at(0);
  }
  double now_s = 0;
};

TEST_F(Scripted, PowerAndCounterAreThoseOfTheWave) {
  const auto source = open(board(
      R"("power_w": {"mean": 300, "amplitude": 100, "period_s": 10}, "counter": true,
         "counter_start_j": 1000, "memory_used_mib": 512)"));
  EXPECT_NEAR(*read(*source, 2.5).watts, 400, 1e-9);
  EXPECT_NEAR(*read(*source, 0).energy_j, 1000, 1e-9);
  EXPECT_NEAR(*read(*source, 20).energy_j, 7000, 1e-9);
  EXPECT_EQ(read(*source, 20).memory_mib, 512);
  EXPECT_TRUE(source->list().at(1).has_counter);
  EXPECT_EQ(source->list().at(1).memory_used_mib, 512);
  EXPECT_FALSE(source->read(std::vector<std::string>{"B0"}).boards.at(0).watts) << "not told";
}

TEST_F(Scripted, ACounterBeginsAtZeroAtItsResets) {
  const auto source = open(board(
      R"("power_w": 250, "counter": true, "counter_start_j": 1000, "counter_resets_s": [6, 8])"));
  EXPECT_EQ(read(*source, 4).energy_j, 2000);
  EXPECT_EQ(read(*source, 6).energy_j, 0);
  EXPECT_EQ(read(*source, 7).energy_j, 250);
  EXPECT_EQ(read(*source, 10).energy_j, 500);
}

TEST_F(Scripted, ALostBoardTellsNothingWhileItIs) {
  const auto source =
      open(board(R"("power_w": 250, "lost_s": [[5, 7]], "processes": [{"pid": 1}])"));
  const std::vector<std::string> ids = {"B1", "none"};
  EXPECT_EQ(read(*source, 4.9).watts, 250);
  EXPECT_EQ(read(*source, 5), record::PowerReading{});
  EXPECT_NE(source->read(ids).errors.at(0), "");
  EXPECT_NE(source->list().at(1).error, "");
  EXPECT_TRUE(source->processes(ids).empty());
  EXPECT_EQ(read(*source, 7).watts, 250);
  EXPECT_EQ(source->read(ids).errors.at(0), "");
  EXPECT_NE(source->read(ids).errors.at(1), "") << "the script has none such";
}

TEST_F(Scripted, ProcessesAreThereInTheirSpans) {
  const auto source = open(board(
      R"("processes": [{"pid": 10, "used_mib": 64, "from_s": 2, "until_s": 4, "unit": "a.service"},
         {"pid": 11, "kind": "graphics"}, {"pid": 12, "kind": "mps", "from_s": 3}])"));
  const std::vector<std::string> ids = {"B1"};
  EXPECT_EQ(read(*source, 0).processes, 0) << "one that draws does not compute";
  EXPECT_EQ(source->processes(ids).size(), 1U);
  EXPECT_EQ(read(*source, 3).processes, 2);
  const auto at_three = source->processes(ids);
  ASSERT_EQ(at_three.size(), 3U);
  EXPECT_EQ(at_three[0].pid, 10);
  EXPECT_EQ(at_three[0].used_mib, 64);
  EXPECT_EQ(at_three[0].unit, "a.service");
  EXPECT_EQ(at_three[0].board, "B1");
  EXPECT_EQ(at_three[2].kind, BoardProcess::Kind::Mps);
  EXPECT_EQ(read(*source, 4).processes, 1);
}

TEST_F(Scripted, EveryFigureOfAListIsTold) {
  const auto source = open(board(
      R"("name": "Board", "pci": "0000:06:00.0", "memory_total_mib": 1, "memory_reserved_mib": 2,
         "limit_enforced_w": 3, "limit_default_w": 4, "limit_min_w": 5, "limit_max_w": 6,
         "limit_requested_w": 7, "sm_mhz": 8, "memory_mhz": 9, "temperature_c": 10,
         "utilisation_percent": 11, "clock_reasons": 12, "link_generation": 13,
         "link_generation_max": 14, "link_width": 15, "link_width_max": 16, "driver": "1.2",
         "cuda": "12.4", "compute_capability": "9.0", "ecc": true, "persistence": false,
         "power_source": "ac", "mig": true, "reading_period_s": 0.1, "instances": [{"id": "MIG-1",
         "name": "m", "gpu_instance": 17, "compute_instance": 18, "memory_total_mib": 19,
         "memory_used_mib": 20}])"));
  const BoardInfo b = source->list().at(1);
  EXPECT_EQ(b.name + b.pci + b.driver + b.cuda + b.compute_capability + b.power_source,
            "Board0000:06:00.01.212.49.0ac");
  const std::optional<double> figures[] = {
      b.memory_total_mib, b.memory_reserved_mib, b.limit_enforced_w,   b.limit_default_w,
      b.limit_min_w,      b.limit_max_w,         b.limit_requested_w,  b.sm_mhz,
      b.memory_mhz,       b.temperature_c,       b.utilisation_percent};
  double next = 1;
  for (const std::optional<double>& figure : figures) EXPECT_EQ(figure, next++);
  EXPECT_EQ(b.clock_reasons, 12U);
  EXPECT_EQ(b.link_generation, 13);
  EXPECT_EQ(b.link_generation_max, 14);
  EXPECT_EQ(b.link_width, 15);
  EXPECT_EQ(b.link_width_max, 16);
  EXPECT_EQ(b.ecc, true);
  EXPECT_EQ(b.persistence, false);
  EXPECT_EQ(b.mig, true);
  EXPECT_EQ(b.reading_period_s, 0.1);
  EXPECT_EQ(b.instances, (std::vector<Instance>{{"MIG-1", "m", 17, 18, 19, 20}}));
}

TEST_F(Scripted, WithoutBoardsNothingIsMeasured) {
  const auto source = open(script("[]"));
  EXPECT_TRUE(source->list().empty());
  EXPECT_EQ(source->checks().at(0).verdict, Check::Verdict::NotMeasured);
}

}  // namespace
}  // namespace deem::board

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "bench/meter.h"
#include "bench/test_run.h"

namespace deem::bench {
namespace {

using record::PowerMark;
using record::PowerSegment;

constexpr const char* kBoard = "GPU-46890836-d8f7-e868-1977-c1ce28db0d7a";

class RunningOnBoards : public Running {
 protected:
  void SetUp() override {
    Running::SetUp();
    config.power = {.period_s = 0.1, .idle_s = 0.3};
    // Port 9 of this machine: nothing of the seat listens there.
    for (Arm& arm : config.arms) arm.seat.address = "http://127.0.0.1:9";
    script.before_reply = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    set_boards(R"({"id":")" + std::string(kBoard) + R"(","name":"RTX","power_w":120,
      "memory_used_mib":10,"counter":true})");
  }

  void set_boards(const std::string& boards) {
    options.boards.script = join_path(folder.path(), "boards.json");
    ASSERT_TRUE(write_file_atomically(
        options.boards.script, R"({"schema":"deem.boards-script/1","boards":[)" + boards + "]}"));
  }

  record::PowerFile power() {
    const auto file = record::load_power(power_path(config.out));
    EXPECT_TRUE(file) << (file ? "" : file.error().message);
    return file.value_or(record::PowerFile());
  }
  record::RunRecord saved() { return record::load_run(config.out).value_or(record::RunRecord()); }
  bool noted(const std::string& part) {
    return std::ranges::any_of(listener.notes, [&](const std::string& note) {
      return note.find(part) != std::string::npos;
    });
  }

  RunOptions options;
};

/// Marks of a kind, as "arm/task/probe rows" for ends of blocks.
std::vector<std::string> blocks_in(const PowerSegment& segment) {
  std::vector<std::string> out;
  for (const PowerMark& mark : segment.marks) {
    if (mark.kind != PowerMark::Kind::Block || mark.begin) continue;
    out.push_back(mark.arm + "/" + mark.task + "/" + mark.probe + " " + std::to_string(mark.rows));
  }
  return out;
}

TEST_F(RunningOnBoards, MarksIdleAndABlockForEachArmAndTask) {
  const auto outcome = go(options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete();
  const record::PowerFile file = power();
  ASSERT_EQ(file.segments.size(), 1U);
  EXPECT_TRUE(file.problems.empty());
  const PowerSegment& segment = file.segments[0];
  ASSERT_EQ(segment.boards.size(), 1U);
  EXPECT_EQ(segment.boards[0].id, kBoard);
  EXPECT_EQ(blocks_in(segment), (std::vector<std::string>{"read/pick/ 4", "read/open/ 2",
                                                          "write/pick/ 4", "write/open/ 2"}));
  // Every end follows its begin, idle windows lie outside all blocks, and each is sampled.
  double idle_end = 0, last = 0;
  for (std::size_t i = 0; i < segment.marks.size(); ++i) {
    const PowerMark& mark = segment.marks[i];
    EXPECT_EQ(mark.begin, i % 2 == 0);
    EXPECT_GE(mark.mono_s, last);
    if (i % 2 == 1) {
      EXPECT_EQ(mark.kind, segment.marks[i - 1].kind);
    }
    last = mark.mono_s;
  }
  EXPECT_EQ(segment.marks.front().kind, PowerMark::Kind::IdleBefore);
  EXPECT_EQ(segment.marks.back().kind, PowerMark::Kind::IdleAfter);
  EXPECT_GE(segment.marks[1].mono_s - segment.marks[0].mono_s, 0.3);
  idle_end = segment.marks.back().mono_s;
  ASSERT_GE(segment.samples.size(), 5U);
  EXPECT_LE(segment.samples.front().mono_s, segment.marks[1].mono_s);
  EXPECT_GE(segment.samples.back().mono_s, idle_end - 0.35);
  for (const auto& sample : segment.samples) EXPECT_EQ(sample.boards.at(0).watts, 120);
}

TEST_F(RunningOnBoards, TheRecordSaysWhatWasReadAndInWhichOrder) {
  ASSERT_TRUE(go(options));
  const record::RunRecord run = saved();
  EXPECT_EQ(run.energy.get_string("status"), "ok");
  EXPECT_EQ(run.energy.get_double("idle_s"), 0.3);
  const codec::Json* arms = run.energy.find("arms");
  ASSERT_NE(arms, nullptr);
  EXPECT_EQ(arms->find("read")->find("boards")->items().at(0).as_string(), kBoard);
  EXPECT_EQ(run.settings.get_string("order"), "block");
  EXPECT_NE(listener.announced.energy.find(kBoard), std::string::npos);
}

TEST_F(RunningOnBoards, TokensOfABlockAreToldOnlyWhereEachRowTellsThem) {
  ASSERT_TRUE(go(options));
  std::map<std::string, std::int64_t> wanted;
  std::set<std::string> untold;
  const std::string bytes = read_file(join_path(config.out, "rows.jsonl")).value_or("");
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = bytes.find('\n', at);
    const auto row = record::parse_row(std::string_view(bytes).substr(at, end - at));
    at = end + 1;
    ASSERT_TRUE(row);
    for (const auto& [name, reading] : row->readings) {
      if (reading.prompt_tokens)
        wanted[row->arm + row->task] += *reading.prompt_tokens;
      else
        untold.insert(row->arm + row->task);
    }
  }
  const record::PowerFile file = power();
  for (const PowerMark& mark : file.segments.at(0).marks) {
    if (mark.kind != PowerMark::Kind::Block || mark.begin) continue;
    EXPECT_EQ(mark.has_prompt_tokens, !untold.contains(mark.arm + mark.task)) << mark.arm;
    if (mark.has_prompt_tokens) {
      EXPECT_EQ(mark.prompt_tokens, wanted[mark.arm + mark.task]);
    }
  }
}

TEST_F(RunningOnBoards, AStatedOrderIsKeptAndGivesOneBlockASeat) {
  config.order = Order::State;
  ASSERT_TRUE(go(options));
  EXPECT_EQ(blocks_in(power().segments.at(0)), (std::vector<std::string>{"// 12"}));
  EXPECT_EQ(saved().settings.get_string("order"), "state");
}

TEST_F(RunningOnBoards, ProbesAreBlocksOfTheirOwn) {
  config.probes.permute = 1;
  ASSERT_TRUE(go(options));
  const auto blocks = blocks_in(power().segments.at(0));
  EXPECT_NE(std::ranges::find(blocks, "read/pick/order 4"), blocks.end());
  EXPECT_EQ(blocks.at(0), "read/pick/ 4");
}

TEST_F(RunningOnBoards, ASustainedRunMarksEachPassOfAnArm) {
  config.probes.sustained_s = 1;
  config.arms.pop_back();
  ASSERT_TRUE(go(options));
  const auto blocks = blocks_in(power().segments.at(0));
  // On a busy machine the time is over before the first pass of all six.
  const auto is_pass = [](const std::string& block) {
    return block.starts_with("read//sustained ");
  };
  EXPECT_TRUE(std::ranges::any_of(blocks, is_pass));
  const auto rows = record::load_rows(join_path(config.out, "rows.jsonl"));
  ASSERT_TRUE(rows);
  const auto sustained = std::ranges::count_if(
      rows->rows, [](const record::Row& row) { return row.probe == "sustained"; });
  std::int64_t marked = 0;
  for (const std::string& block : blocks) {
    if (is_pass(block)) marked += std::stoi(block.substr(block.rfind(' ') + 1));
  }
  EXPECT_EQ(marked, sustained);
}

TEST_F(RunningOnBoards, ResumedItAddsASegmentOnlyForWhatWasMissing) {
  listener.stop_after = 5;
  const auto first = go(options);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->end, Outcome::End::Interrupted);
  listener.stop = std::stop_source();
  listener.stop_after = 0;
  options.resume = true;
  ASSERT_TRUE(go(options));
  expect_complete();
  ASSERT_EQ(power().segments.size(), 2U);
  std::int64_t rows = 0;
  const record::PowerFile file = power();
  for (const PowerSegment& segment : file.segments) {
    for (const PowerMark& mark : segment.marks) rows += mark.rows;
  }
  EXPECT_EQ(rows, 12);
  ASSERT_TRUE(go(options));  // nothing is missing: nothing is read
  EXPECT_EQ(power().segments.size(), 2U);
}

TEST_F(RunningOnBoards, SwitchedOffNothingIsRead) {
  config.power.off = true;
  ASSERT_TRUE(go(options));
  EXPECT_FALSE(file_exists(power_path(config.out)));
  EXPECT_EQ(saved().energy.get_string("status"), "not measured (switched off)");
  EXPECT_EQ(saved().settings.get_string("order"), "state");
}

TEST_F(RunningOnBoards, ASeatOnAnotherMachineIsNotMeasuredByOurBoards) {
  for (Arm& arm : config.arms) arm.seat.address = "http://192.0.2.7:8000";
  ASSERT_TRUE(go(options));
  EXPECT_FALSE(file_exists(power_path(config.out)));
  EXPECT_EQ(saved().energy.get_string("status"), "not measured (the seat is on another machine)");
  config.arms[0].boards = config.arms[1].boards = {kBoard};
  config.out += "2";
  const auto refused = go(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Error::Code::BadInput);
}

TEST_F(RunningOnBoards, AModelOnTheCpuIsMeasuredByRaplOrNotAtAll) {
  for (Arm& arm : config.arms) arm.seat = {.kind = "local", .address = "m.gguf"};
  ASSERT_TRUE(go(options));
  EXPECT_NE(saved().energy.get_string("status").value_or("").find("RAPL"), std::string::npos);
  set_boards(R"({"id":")" + std::string(kBoard) +
             R"(","power_w":120},{"id":"rapl:package-0","name":"package 0","power_w":20})");
  config.out += "2";
  ASSERT_TRUE(go(options));
  ASSERT_EQ(power().segments.at(0).boards.size(), 1U);
  EXPECT_EQ(power().segments[0].boards[0].id, "rapl:package-0");
}

TEST_F(RunningOnBoards, APowerLogThatCanNotBeWrittenCostsNoRow) {
  ASSERT_TRUE(make_folders(power_path(config.out)));
  ASSERT_TRUE(go(options));
  expect_complete();
  EXPECT_TRUE(noted("joules of read, write not measured")) << listener.notes.size();
  const record::RunRecord run = saved();
  EXPECT_NE(run.energy.find("arms")->find("read")->get_string("status"), "ok");
}

TEST_F(RunningOnBoards, ANeighbourThatComesIsNotedWithItsBlock) {
  const std::string self = std::to_string(::getpid());
  for (Arm& arm : config.arms) arm.seat = {.kind = "local", .address = "m.gguf", .gpu_layers = 99};
  // It comes while the first reply is awaited, however late the boards were read on a busy machine.
  script.before_reply = [at = std::chrono::steady_clock::now() + std::chrono::seconds(3)] {
    std::this_thread::sleep_until(at);
  };
  set_boards(R"({"id":")" + std::string(kBoard) + R"(","power_w":120,"memory_used_mib":1600,
    "processes":[{"pid":)" +
             self + R"(,"used_mib":1000},
                 {"pid":4021,"used_mib":600,"from_s":2.5}]})");
  ASSERT_TRUE(go(options));
  EXPECT_TRUE(noted("process 4021 came and holds 600 MiB"));
  std::size_t events = 0;
  const record::PowerFile file = power();
  for (const record::PowerEvent& event : file.segments.at(0).events) {
    events += event.what == "neighbour" ? 1U : 0U;
  }
  EXPECT_EQ(events, 1U);
}

TEST_F(RunningOnBoards, ResumeReadsTheBoardsAsTheRunDid) {
  for (Arm& arm : config.arms) arm.seat = {.kind = "local", .address = "m.gguf"};
  config.power = {.period_s = 0.2, .idle_s = 0};
  ASSERT_TRUE(go(options));
  const Result<Config> again = load_run_config(config.out);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->power, config.power);
}

TEST_F(RunningOnBoards, ResumingOnOtherBoardsOrNoneIsSaid) {
  listener.stop_after = 5;
  ASSERT_TRUE(go(options));
  listener.stop = std::stop_source();
  listener.stop_after = 0;
  options.resume = true;
  config.order = Order::Block;  // as run.json has it
  set_boards(R"({"id":"GPU-another","power_w":50})");
  listener.stop_after = 2;
  ASSERT_TRUE(go(options));
  EXPECT_TRUE(noted("arm read is read on other boards")) << "and its joules are not valid";
  listener.stop = std::stop_source();
  listener.stop_after = 0;
  set_boards("");
  const auto outcome = go(options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(noted("joules of this sitting not measured (no board)"));
}

TEST_F(RunningOnBoards, StoppedBeforeItsRestItSaysWhatThatCosts) {
  listener.stop_after = 12;
  const auto outcome = go(options);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->end, Outcome::End::Done) << "every row is there";
  EXPECT_TRUE(noted("net joules of this sitting are not valid"));
}

class RequiringAPin : public RunningOnBoards {
 protected:
  void SetUp() override {
    RunningOnBoards::SetUp();
    for (Arm& arm : config.arms) {
      arm.seat = {.kind = "local", .address = "m.gguf"};
      arm.boards = {kBoard};
    }
    config.power.require_pin = true;
  }
};

TEST_F(RequiringAPin, AModelThatIsNotThereIsAskedNothing) {
  config.doctor = Doctor::Quick;  // nor by it
  const auto outcome = go(options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, Outcome::End::PinFailed);
  EXPECT_NE(outcome->why.find(kBoard), std::string::npos) << outcome->why;
  EXPECT_EQ(calls.positions + calls.likelihoods + calls.writes, 0);
  EXPECT_FALSE(file_exists(config.out));
}

TEST_F(RequiringAPin, NotProvedIsNotEnough) {
  for (Arm& arm : config.arms) arm.seat = {.kind = "scripted", .address = "http://127.0.0.1:9"};
  const auto outcome = go(options);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->end, Outcome::End::PinNotMeasured);
  EXPECT_EQ(calls.positions, 0);
}

TEST_F(RequiringAPin, AModelThatGrewThereIsAsked) {
  // The memory rises once the seat is being made: its factory waits for that.
  set_boards(R"({"id":")" + std::string(kBoard) +
             R"(","power_w":120,"memory_used_mib":{"steps":[[0,14],[0.5,9000]]}})");
  const SeatFactory factory = [&](const seat::SeatSpec&) -> Result<std::unique_ptr<seat::Seat>> {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    return std::unique_ptr<seat::Seat>(std::make_unique<ScriptedSeat>(script, calls));
  };
  const auto outcome = run(config, options, factory, listener, listener.stop.get_token());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, Outcome::End::Done);
  expect_complete();
  EXPECT_EQ(saved().arms.at(0).pin.get_string("status"), "ok");
}

TEST_F(RequiringAPin, WantsABoard) {
  for (Arm& arm : config.arms) arm.boards.clear();
  const auto outcome = go(options);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Error::Code::BadInput);
  EXPECT_NE(outcome.error().message.find("--board"), std::string::npos);
}

TEST_F(RequiringAPin, AnUnknownBoardOrAnIndexIsRefusedByName) {
  config.arms[0].boards = config.arms[1].boards = {"0"};
  const auto index = go(options);
  ASSERT_FALSE(index);
  EXPECT_NE(index.error().message.find("never by an index"), std::string::npos);
  config.arms[0].boards = {kBoard};
  const auto differ = go(options);
  ASSERT_FALSE(differ);
  EXPECT_NE(differ.error().message.find("share a seat"), std::string::npos);
}

}  // namespace
}  // namespace deem::bench

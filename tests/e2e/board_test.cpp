// A run on boards, end to end: a real llama-server, whose process a scripted board says it holds.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/process.h"
#include "codec/json.h"
#include "record/power.h"
#include "record/run.h"
#include "seat/seat.h"
#include "tests/e2e/free_port.h"

namespace deem {
namespace {

constexpr const char* kOurs = "GPU-46890836-d8f7-e868-1977-c1ce28db0d7a";
constexpr const char* kOther = "GPU-7aa0be10-974f-6430-52fe-09018a0e2e08";

class OnBoards : public testing::Test {
 protected:
  void SetUp() override {
    const char *model = std::getenv("DEEM_MODEL"), *server = std::getenv("DEEM_LLAMA_SERVER");
    if (model == nullptr || server == nullptr)
      GTEST_SKIP() << "DEEM_MODEL or DEEM_LLAMA_SERVER is not set";
    std::string name = (std::filesystem::temp_directory_path() / "deem-boards-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    const std::string port = std::to_string(free_port());
    auto started =
        Process::spawn({.argv = {server, "-m", model, "--host", "127.0.0.1", "--port", port, "-c",
                                 "4096", "-np", "1", "-t", "1", "--no-webui"},
                        .environment = own_environment()});
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::make_unique<Process>(std::move(*started));
    seat_ = "llama-server:http://127.0.0.1:" + port;
    wait_until_up();
    write_boards();
  }
  void TearDown() override {
    server_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  void wait_until_up() {
    auto spec = seat::parse_seat(seat_);
    ASSERT_TRUE(spec);
    for (int i = 0; i < 300; ++i) {
      auto seat = seat::make_seat(*spec);
      ASSERT_TRUE(seat);
      if ((*seat)->identify()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    FAIL() << "llama-server did not come up";
  }

  /// The server's process holds 900 MiB of one board, nobody anything of the other.
  void write_boards() {
    boards_ = join_path(folder_, "boards.json");
    ASSERT_TRUE(
        write_file_atomically(boards_, R"({"schema":"deem.boards-script/1","boards":[
          {"id":")" + std::string(kOurs) + R"(","name":"A","power_w":120,"counter":true,
           "memory_used_mib":914,"processes":[{"pid":)" +
                                           std::to_string(server_->pid()) +
                                           R"(,"used_mib":900}]},
          {"id":")" + std::string(kOther) +
                                           R"(","name":"B","power_w":30,"memory_used_mib":14}]})"));
  }

  Command command(std::vector<std::string> args) const {
    args.insert(args.begin(), DEEM_PROGRAM);
    return {.argv = std::move(args),
            .environment = {"LANG=C.UTF-8", "HOME=" + folder_, "DEEM_BOARDS=" + boards_},
            .folder = folder_};
  }
  Finished deem(std::vector<std::string> args) const {
    auto done = run_process(command(std::move(args)), Seconds(600));
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return done ? *done : Finished{};
  }
  std::vector<std::string> run_on(const std::string& board, const std::string& limit) const {
    return {"run",
            "--kit",
            DEEM_SOURCE_DIR "/kits/demo",
            "--seat",
            seat_,
            "--task",
            "intent",
            "--reading",
            "letters",
            "--limit",
            limit,
            "--idle",
            "1",
            "--board",
            board,
            "--require-pin",
            "--out",
            "run"};
  }

  std::string folder_, seat_, boards_;
  std::unique_ptr<Process> server_;
};

TEST_F(OnBoards, ASeatOnItsBoardIsAskedAndMeasured) {
  const Finished done = deem(run_on(kOurs, "6"));
  ASSERT_EQ(done.ending.code, 0) << done.errors;
  const auto run = record::load_run(folder_ + "/run");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->energy.get_string("status"), "ok");
  EXPECT_EQ(run->arms.at(0).pin.get_string("status"), "ok");
  EXPECT_EQ(run->arms.at(0).pin.get_string("method"), "processes");
  const auto power = record::load_power(folder_ + "/run/power.jsonl");
  ASSERT_TRUE(power);
  ASSERT_EQ(power->segments.size(), 1U);
  ASSERT_EQ(power->segments[0].marks.size(), 6U);
  EXPECT_EQ(power->segments[0].marks[3].rows, 6);
  EXPECT_TRUE(power->segments[0].marks[3].has_prompt_tokens);
  // A board that draws 120 W all the time: 120 J a second, none of them net.
  const auto text = read_file(folder_ + "/run/score.json");
  ASSERT_TRUE(text);
  const auto scores = codec::parse_json(*text);
  ASSERT_TRUE(scores);
  const codec::Json& energy = scores->find("energy")->items().at(0);
  EXPECT_EQ(energy.get_string("status"), "ok");
  const codec::Json& all = *energy.find("all");
  const double seconds = all.get_double("seconds").value_or(0);
  EXPECT_GT(seconds, 0.5);
  EXPECT_NEAR(all.get_double("gross_j").value_or(0), 120 * seconds, 1e-6 * seconds);
  EXPECT_NEAR(all.get_double("counter_j").value_or(0), 120 * seconds, 1.2 * seconds);
  EXPECT_EQ(all.get_double("net_j"), 0.0);
  EXPECT_EQ(all.get_int("decisions"), 6);
  EXPECT_EQ(all.get_bool("energy_valid"), seconds >= 1) << "ten periods are a second";
  EXPECT_NE(done.output.find("ok by processes on"), std::string::npos) << done.output;
}

TEST_F(OnBoards, ASeatOnAnotherBoardIsRefused) {
  const Finished done = deem(run_on(kOther, "10"));
  EXPECT_EQ(done.ending.code, 1) << done.errors;
  EXPECT_NE(done.errors.find("nothing was asked"), std::string::npos) << done.errors;
  EXPECT_NE(done.errors.find("900 MiB"), std::string::npos) << done.errors;
  EXPECT_FALSE(file_exists(folder_ + "/run"));
}

TEST_F(OnBoards, KilledItLosesNoWholeLineAndGoesOn) {
  auto started = Process::spawn(command(run_on(kOurs, "12")));
  ASSERT_TRUE(started);
  for (int i = 0; i < 600; ++i) {
    if (read_file(folder_ + "/run/rows.jsonl").value_or("").size() > 1500) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  started->send(SIGKILL);
  (void)started->wait(Seconds(60));
  const Finished done = deem({"resume", "run"});
  ASSERT_EQ(done.ending.code, 0) << done.errors;
  const auto power = record::load_power(folder_ + "/run/power.jsonl");
  ASSERT_TRUE(power);
  EXPECT_TRUE(power->problems.empty());
  ASSERT_EQ(power->segments.size(), 2U);
  EXPECT_EQ(power->segments[0].marks.back().begin, true) << "the block that was cut has no end";
  EXPECT_LT(power->segments[1].marks.at(3).rows, 12);
}

}  // namespace
}  // namespace deem

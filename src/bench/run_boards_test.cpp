#include "bench/run_boards.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "bench/test_folder.h"
#include "bench/test_kit.h"

namespace deem::bench {
namespace {

void put(const std::string& path, const std::string& bytes) {
  ASSERT_TRUE(make_folders(path.substr(0, path.rfind('/'))));
  ASSERT_TRUE(write_file_atomically(path, bytes));
}

/// A run of one arm on a server of this machine.
Config one_arm() {
  Config config;
  config.arms = {small_arm("a", {{"letters", false}})};
  config.arms[0].seat.address = "http://127.0.0.1:9";
  return config;
}

RunBoards opened(const Config& config, const board::BoardOptions& options) {
  auto boards = open_run_boards(config, options);
  EXPECT_TRUE(boards) << boards.error().message;
  return boards ? std::move(*boards) : RunBoards();
}

codec::Json receipt_of(const board::BoardOptions& options) {
  return opened(one_arm(), options).receipt();
}

std::string status_of(const board::BoardOptions& options) {
  const Config config = one_arm();
  return opened(config, options).energy(config).get_string("status").value_or("");
}

TEST(RunBoards, KeepsCapsOfScriptedBoards) {
  const codec::Json boards = receipt_of({.script = DEEM_SOURCE_DIR "/tests/data/boards/two.json"});
  ASSERT_EQ(boards.items().size(), 2U);
  EXPECT_EQ(boards.items()[0].get_double("cap_w"), 250);
  EXPECT_EQ(boards.items()[0].get_double("cap_default_w"), 350);
  EXPECT_EQ(boards.items()[1].find("cap_w"), nullptr) << "not told is not 0";
}

/// A box with a board on its bus and no driver has a board; one with neither has none.
TEST(RunBoards, ABoardWithoutItsDriverIsNoBoxWithoutBoards) {
  const TestFolder folder;
  board::BoardOptions options{.nvml_library = "/nowhere/libnvidia-ml.so.1",
                              .nvidia_smi = "/nowhere/nvidia-smi",
                              .sysfs = folder.path() + "/sys",
                              .proc = folder.path() + "/proc"};
  ASSERT_TRUE(make_folders(options.sysfs + "/bus/pci/devices"));
  EXPECT_EQ(status_of(options), "not measured (no board)");
  const std::string device = options.sysfs + "/bus/pci/devices/0000:06:00.0";
  put(device + "/vendor", "0x10de\n");
  put(device + "/class", "0x030200\n");
  put(device + "/device", "0x2204\n");
  const std::string status = status_of(options);
  EXPECT_NE(status, "not measured (no board)");
  EXPECT_NE(status.find("/nowhere/libnvidia-ml.so.1"), std::string::npos) << status;
}

TEST(RunBoards, ABrokenScriptIsSaid) {
  const TestFolder folder;
  put(folder.path() + "/b.json", "{}");
  const std::string status = status_of({.script = folder.path() + "/b.json"});
  EXPECT_NE(status.find("b.json"), std::string::npos) << status;
}

TEST(RunBoards, ABrokenScriptRefusesWhoeverNamesABoard) {
  const TestFolder folder;
  put(folder.path() + "/b.json", "{}");
  Config config = one_arm();
  config.arms[0].boards = {"GPU-7aa0be10"};
  const auto boards = open_run_boards(config, {.script = folder.path() + "/b.json"});
  ASSERT_FALSE(boards);
  EXPECT_NE(boards.error().message.find("arm a: "), std::string::npos);
}

TEST(RunBoards, NamedBoardsAloneCount) {
  Config config = one_arm();
  config.arms[0].boards = {"00000000:07:00.0"};
  const RunBoards boards =
      opened(config, {.script = DEEM_SOURCE_DIR "/tests/data/boards/two.json"});
  const SeatBoards& seat = boards.of(config.arms[0].seat);
  ASSERT_EQ(seat.counted.size(), 1U);
  EXPECT_EQ(seat.counted[0].id, "GPU-7aa0be10-974f-6430-52fe-09018a0e2e08");
  EXPECT_EQ(seat.named, std::vector<std::string>{seat.counted[0].id});
}

TEST(RunBoards, TellsWhatItsChecksFoundOfCountedBoardsAlone) {
  const TestFolder folder;
  put(folder.path() + "/b.json",
      R"({"schema":"deem.boards-script/1","boards":[
        {"id":"GPU-a","power_w":30,"limit_requested_w":250,"limit_enforced_w":200},
        {"id":"GPU-b","power_w":30,"limit_requested_w":300,"limit_enforced_w":200}]})");
  Config config = one_arm();
  config.arms[0].boards = {"GPU-a"};
  EXPECT_EQ(opened(config, {.script = folder.path() + "/b.json"}).findings(),
            std::vector<std::string>{"finding: board GPU-a: limit: 250 W were set, 200 W are in "
                                     "force: another limiter holds it lower"});
  config.power.off = true;
  EXPECT_TRUE(opened(config, {.script = folder.path() + "/b.json"}).findings().empty());
}

}  // namespace
}  // namespace deem::bench

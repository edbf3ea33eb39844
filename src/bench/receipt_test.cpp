#include "bench/receipt.h"

#include <gtest/gtest.h>

#include "base/embedded.h"
#include "base/file.h"
#include "bench/test_folder.h"

namespace deem::bench {
namespace {

void put(const std::string& path, const std::string& bytes) {
  ASSERT_TRUE(make_folders(path.substr(0, path.rfind('/'))));
  ASSERT_TRUE(write_file_atomically(path, bytes));
}

TEST(HostReceipt, TellsTheBoxAndTheBuild) {
  const TestFolder folder;
  const std::string root = folder.path();
  put(root + "/etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  put(root + "/proc/meminfo", "MemFree:  5 kB\nMemTotal:       16384 kB\n");
  const std::string cpu = root + "/sys/devices/system/cpu/cpu";
  put(cpu + "0/cpufreq/scaling_governor", "performance\n");
  put(cpu + "1/cpufreq/scaling_governor", "powersave\n");
  put(cpu + "2/cpufreq/scaling_governor", "performance\n");
  put(root + "/.dockerenv", "");
  const codec::Json receipt = host_receipt(root);
  EXPECT_EQ(receipt.get_string("distribution"), "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(receipt.get_int("memory_bytes"), 16384 * 1024);
  EXPECT_EQ(receipt.get_string("cpu_governor"), "performance 2, powersave 1");
  EXPECT_EQ(receipt.get_bool("in_container"), true);
  EXPECT_EQ(receipt.get_string("harness"), harness_digest());
  EXPECT_EQ(receipt.get_string("harness").value_or("").size(), 64U);
  EXPECT_EQ(receipt.get_string("build").value_or("").size(), 64U);
}

TEST(HostReceipt, LeavesOutWhatCanNotBeRead) {
  const TestFolder folder;
  const codec::Json receipt = host_receipt(folder.path());
  EXPECT_EQ(receipt.find("distribution"), nullptr);
  EXPECT_EQ(receipt.find("cpu_governor"), nullptr);
  EXPECT_EQ(receipt.find("memory_bytes"), nullptr);
  EXPECT_EQ(receipt.get_bool("in_container"), false);
}

TEST(BoardReceipt, KeepsCapsOfScriptedBoards) {
  const BoardReceipt receipt =
      board_receipt({.script = DEEM_SOURCE_DIR "/tests/data/boards/two.json"});
  ASSERT_EQ(receipt.boards.items().size(), 2U);
  EXPECT_EQ(receipt.boards.items()[0].get_double("cap_w"), 250);
  EXPECT_EQ(receipt.boards.items()[0].get_double("cap_default_w"), 350);
  EXPECT_EQ(receipt.boards.items()[1].find("cap_w"), nullptr) << "not told is not 0";
}

/// A box with a board on its bus and no driver has a board; one with neither has none.
TEST(BoardReceipt, ABoardWithoutItsDriverIsNoBoxWithoutBoards) {
  const TestFolder folder;
  board::BoardOptions options{.nvml_library = "/nowhere/libnvidia-ml.so.1",
                              .nvidia_smi = "/nowhere/nvidia-smi",
                              .sysfs = folder.path() + "/sys",
                              .proc = folder.path() + "/proc"};
  ASSERT_TRUE(make_folders(options.sysfs + "/bus/pci/devices"));
  EXPECT_EQ(board_receipt(options).energy.get_string("status"), "not measured (no board)");
  const std::string device = options.sysfs + "/bus/pci/devices/0000:06:00.0";
  put(device + "/vendor", "0x10de\n");
  put(device + "/class", "0x030200\n");
  put(device + "/device", "0x2204\n");
  const std::string status = board_receipt(options).energy.get_string("status").value_or("");
  EXPECT_NE(status, "not measured (no board)");
  EXPECT_NE(status.find("/nowhere/libnvidia-ml.so.1"), std::string::npos) << status;
}

TEST(BoardReceipt, ABrokenScriptIsSaid) {
  const TestFolder folder;
  put(folder.path() + "/b.json", "{}");
  const std::string status =
      board_receipt({.script = folder.path() + "/b.json"}).energy.get_string("status").value_or("");
  EXPECT_NE(status.find("b.json"), std::string::npos) << status;
}

}  // namespace
}  // namespace deem::bench

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

}  // namespace
}  // namespace deem::bench

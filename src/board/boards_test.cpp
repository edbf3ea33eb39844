#include <gtest/gtest.h>

#include <cstdlib>

#include "board/board.h"
#include "board/fake/test_folder.h"

namespace deem::board {
namespace {

using Verdict = Check::Verdict;

/// A box of folders, with NVIDIA's boards by the stand-in library.
class Box : public testing::Test {
 protected:
  ~Box() override { ::unsetenv("DEEM_FAKE_NVML"); }
  void device(const std::string& address, const char* vendor, const char* kind,
              const char* driver = "") {
    const std::string at = "sys/bus/pci/devices/" + address + "/";
    folder.write(at + "vendor", std::string(vendor) + "\n");
    folder.write(at + "class", std::string(kind) + "\n");
    folder.write(at + "uevent", "DRIVER=" + std::string(driver) + "\n");
  }
  void nvml(const std::string& script) {
    ::setenv("DEEM_FAKE_NVML", folder.write("nvml", script).c_str(), 1);
    library = DEEM_FAKE_NVML;
  }
  std::unique_ptr<Boards> open() {
    std::filesystem::create_directories(folder.at("proc"));
    auto boards = open_boards({.nvml_library = library.empty() ? folder.at("none.so") : library,
                               .nvidia_smi = folder.at("no-nvidia-smi"),
                               .sysfs = folder.at("sys"),
                               .proc = folder.at("proc")});
    EXPECT_TRUE(boards) << boards.error().message;
    return std::move(*boards);
  }
  /// "VERDICT says" of the checks of that name, each followed by a newline.
  static std::string checks(const Inventory& all, std::string_view name) {
    std::string out;
    for (const Check& check : all.checks) {
      if (check.name != name) continue;
      out += std::string(to_string(check.verdict)) + " " + check.says + "\n";
    }
    return out;
  }

  fake::TestFolder folder;
  std::string library;
};

constexpr const char* kTwo = "driver 1.2\nboard GPU-1\npci 0 6 0\nboard GPU-2\npci 0 7 0\n";

TEST_F(Box, CountsItsBoardsByTwoSources) {
  nvml(kTwo);
  device("0000:06:00.0", "0x10de", "0x030200");
  device("0000:06:00.1", "0x10de", "0x040300");  // the board's sound
  device("0000:07:00.0", "0x10de", "0x030000");
  device("0000:00:02.0", "0x8086", "0x030000");
  const Inventory same = open()->inventory();
  EXPECT_EQ(checks(same, "count"), "ok NVIDIA: the driver tells 2, the bus has 2\n");
  device("0000:08:00.0", "0x10de", "0x030200", "vfio-pci");
  device("0000:09:00.0", "0x10de", "0x030200");
  const Inventory more = open()->inventory();
  EXPECT_TRUE(
      checks(more, "count").starts_with("finding NVIDIA: the driver tells 2, the bus has 4"))
      << checks(more, "count");
  EXPECT_TRUE(more.found());
}

TEST_F(Box, WithoutABusTheCountIsNotMeasured) {
  nvml(kTwo);
  const Inventory all = open()->inventory();
  EXPECT_TRUE(checks(all, "count").starts_with("not measured the bus: ")) << checks(all, "count");
  EXPECT_EQ(all.boards.size(), 2U);
  EXPECT_TRUE(all.measurable());
}

TEST_F(Box, CountsEachMakersBoardsApart) {
  nvml("driver 1.2\nboard GPU-1\npci 0 6 0\n");
  device("0000:06:00.0", "0x10de", "0x030200");
  device("0000:03:00.0", "0x1002", "0x030000", "amdgpu");
  device("0000:04:00.0", "0x1002", "0x120000", "vfio-pci");
  const auto boards = open();
  const Inventory all = boards->inventory();
  ASSERT_EQ(all.boards.size(), 2U);
  const std::string count = checks(all, "count");
  EXPECT_NE(count.find("ok NVIDIA: the driver tells 1, the bus has 1\n"), std::string::npos)
      << count;
  EXPECT_NE(count.find("finding AMD: the driver tells 1, the bus has 2"), std::string::npos)
      << count;
}

TEST_F(Box, WithNvidiaOnTheBusAndNoDriverIsAFinding) {
  device("0000:06:00.0", "0x10de", "0x030200");
  const Inventory all = open()->inventory();
  EXPECT_TRUE(checks(all, "driver").starts_with("finding ")) << checks(all, "driver");
  EXPECT_FALSE(all.measurable());
}

TEST_F(Box, WithoutBoardsHasNothingToFind) {
  device("0000:00:02.0", "0x8086", "0x030000");
  const Inventory all = open()->inventory();
  EXPECT_FALSE(all.found());
  EXPECT_FALSE(all.measurable());
  EXPECT_TRUE(checks(all, "driver").starts_with("not measured ")) << checks(all, "driver");
  EXPECT_EQ(checks(all, "count"), "");
}

TEST_F(Box, ADriverThatDoesNotBeginIsAFindingOnlyWhereThereIsABoard) {
  nvml("fail nvmlInit_v2 9\nfail nvmlInitWithFlags 9\nfail nvmlInit 9\n");
  std::filesystem::create_directories(folder.at("sys/bus/pci/devices"));
  EXPECT_TRUE(checks(open()->inventory(), "driver").starts_with("not measured "));
  device("0000:06:00.0", "0x10de", "0x030200");
  EXPECT_TRUE(checks(open()->inventory(), "driver").starts_with("finding "));
}

TEST_F(Box, ListsMigInstancesWithTheirProcesses) {
  nvml(
      "driver 1.2\nboard GPU-1\npci 0 6 0\nmemory 81920 600 20000\nmig_mode 1\n"
      "mig MIG-a 1 0 19968 9000\nmig MIG-b 2 0 40192 10500\n"
      "mig_process MIG-b 77 10400\nmig_process MIG-a 78 8900\n"
      "process compute 77 10400\n"  // the whole board's list, for those who may see it
      "board GPU-2\npci 0 7 0\nmig_mode 0\n");
  const Inventory all = open()->inventory();
  ASSERT_EQ(all.boards.size(), 2U);
  EXPECT_EQ(all.boards[0].mig, true);
  ASSERT_EQ(all.boards[0].instances.size(), 2U);
  const Instance& b = all.boards[0].instances[1];
  EXPECT_EQ(b.id, "MIG-b");
  EXPECT_EQ(b.gpu_instance, 2);
  EXPECT_EQ(b.compute_instance, 0);
  EXPECT_EQ(b.memory_total_mib, 40192);
  EXPECT_EQ(b.memory_used_mib, 10500);
  EXPECT_EQ(all.boards[1].mig, false);
  EXPECT_TRUE(all.boards[1].instances.empty());
  ASSERT_EQ(all.processes.size(), 2U);
  EXPECT_EQ(all.processes[0].board, "GPU-1");
  EXPECT_EQ(all.processes[0].instance, "MIG-a");
  EXPECT_EQ(all.processes[0].pid, 78);
  EXPECT_EQ(all.processes[1].instance, "MIG-b");
  // 20,000 MiB in use, 19,300 by the instances' processes.
  EXPECT_NE(checks(all, "memory").find("20000 MiB in use, 700 of them"), std::string::npos)
      << checks(all, "memory");
}

TEST_F(Box, OwnersOfProcessesAreThoseOfItsProc) {
  nvml("driver 1.2\nboard GPU-1\npci 0 6 0\nprocess compute 77 900\nprocess compute 78 1\n");
  folder.write("proc/77/comm", "llama-server\n");
  folder.write("proc/77/cgroup", "0::/system.slice/llama.service\n");
  const Inventory all = open()->inventory();
  ASSERT_EQ(all.processes.size(), 2U);
  EXPECT_EQ(all.processes[0].command, "llama-server");
  EXPECT_EQ(all.processes[0].unit, "llama.service");
  EXPECT_NE(all.processes[1].owner_note, "");
}

TEST_F(Box, ReadsBoardsOfSeveralSourcesInTheOrderAskedFor) {
  nvml("driver 1.2\nboard GPU-1\npci 0 6 0\npower 100\nboard GPU-2\npci 0 7 0\npower 200\n");
  folder.write("sys/class/powercap/intel-rapl:0/name", "package-0\n");
  folder.write("sys/class/powercap/intel-rapl:0/energy_uj", "5000000\n");
  const auto boards = open();
  const Readings now =
      boards->read(std::vector<std::string>{"GPU-2", "rapl:package-0", "GPU-none", "GPU-1"});
  ASSERT_EQ(now.boards.size(), 4U);
  EXPECT_NEAR(now.boards[0].watts.value_or(0), 200, 1e-9);
  EXPECT_NEAR(now.boards[1].energy_j.value_or(0), 5, 1e-9);
  EXPECT_EQ(now.errors[2], "no source knows such a board");
  EXPECT_NEAR(now.boards[3].watts.value_or(0), 100, 1e-9);
}

TEST_F(Box, OfAScriptHasItsBoardsAlone) {
  nvml(kTwo);
  const std::string path = folder.write(
      "script", R"({"schema": "deem.boards-script/1", "boards": [{"id": "B", "power_w": 5}]})");
  const auto boards = open_boards({.nvml_library = library, .script = path});
  ASSERT_TRUE(boards) << boards.error().message;
  const Inventory all = (*boards)->inventory();
  ASSERT_EQ(all.boards.size(), 1U);
  EXPECT_EQ(all.boards[0].source, "scripted");
  EXPECT_EQ(checks(all, "script"), "ok boards of a script, not of this box\n");
  EXPECT_EQ(checks(all, "count"), "");
  folder.write("script", "{}");
  const auto broken = open_boards({.script = path});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, path + ": script.schema is not deem.boards-script/1");
  const auto missing = open_boards({.script = folder.at("none")});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Error::Code::NotFound);
}

TEST(BoardOptionsOf, TheEnvironmentNamesEveryPlace) {
  const char* names[] = {"DEEM_NVML_LIBRARY", "DEEM_NVIDIA_SMI", "DEEM_SYSFS", "DEEM_PROC",
                         "DEEM_BOARDS"};
  for (const char* name : names) ::setenv(name, (std::string("/of/") + name).c_str(), 1);
  const BoardOptions options = options_from_environment();
  EXPECT_EQ(options.nvml_library, "/of/DEEM_NVML_LIBRARY");
  EXPECT_EQ(options.nvidia_smi, "/of/DEEM_NVIDIA_SMI");
  EXPECT_EQ(options.sysfs, "/of/DEEM_SYSFS");
  EXPECT_EQ(options.proc, "/of/DEEM_PROC");
  EXPECT_EQ(options.script, "/of/DEEM_BOARDS");
  for (const char* name : names) ::unsetenv(name);
  EXPECT_EQ(options_from_environment().script, "");
}

BoardInfo board(const std::string& id, const std::string& pci, const std::string& error = "") {
  BoardInfo out;
  out.id = id;
  out.pci = pci;
  out.error = error;
  return out;
}

struct ChooseCase {
  const char* name;
  std::vector<std::string> typed;
  const char* says;  // the ids that were chosen, or a part of the error
};
TEST(ChooseBoardsOfNone, SaysThatNoneCanBeRead) {
  const auto chosen = choose_boards({}, std::vector<std::string>{"GPU-aa"});
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().message,
            "board GPU-aa: no board can be read here; deem board list says why");
}

class ChooseBoards : public testing::TestWithParam<ChooseCase> {};

TEST_P(ChooseBoards, TakesThoseNamedByIdOrAddress) {
  const auto chosen = choose_boards(
      {board("GPU-aa", "00000000:06:00.0"), board("GPU-bb", "00000001:06:00.0"),
       board("GPU-cc", "00000000:07:00.0", "GPU is lost"), board("rapl:package-0", "")},
      GetParam().typed);
  std::string says;
  if (chosen) {
    for (const BoardInfo& one : *chosen) says += one.id + " ";
    EXPECT_EQ(says, GetParam().says);
  } else {
    EXPECT_EQ(chosen.error().code, Error::Code::BadInput);
    EXPECT_NE(chosen.error().message.find(GetParam().says), std::string::npos)
        << chosen.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ChooseBoards,
    testing::Values(ChooseCase{"NoneNamed", {}, "GPU-aa GPU-bb rapl:package-0 "},
                    ChooseCase{"OrderTyped", {"GPU-bb", "GPU-aa"}, "GPU-bb GPU-aa "},
                    ChooseCase{"OnceEach", {"GPU-bb", "gpu-BB", "00000001:06:00.0"}, "GPU-bb "},
                    ChooseCase{"LostByName", {"GPU-cc"}, "GPU-cc "},
                    ChooseCase{"ShortAddress", {"07:00.0"}, "GPU-cc "},
                    ChooseCase{"FourDigitDomain", {"0001:06:00.0"}, "GPU-bb "},
                    ChooseCase{"SeveralFit", {"06:00.0"}, "fits several"},
                    ChooseCase{"Index", {"0"}, "never by an index"},
                    ChooseCase{"Unknown", {"GPU-dd"}, "not on this box"},
                    ChooseCase{"Empty", {""}, "named by its UUID"},
                    ChooseCase{"PartOfAnId", {"GPU-a"}, "not on this box"}),
    [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace deem::board

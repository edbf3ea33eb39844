#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "base/clock.h"
#include "base/file.h"
#include "board/board.h"
#include "board/fake/test_folder.h"
#include "board/sources.h"

namespace deem::board {
namespace {

constexpr const char* kTwo = R"(help
alias uuid gpu_uuid
alias clocks.sm clocks.current.sm
board
uuid GPU-1
name NVIDIA H200
pci.bus_id 00000000:06:00.0
driver_version 550.54.15
compute_cap 9.0
persistence_mode Enabled
ecc.mode.current Enabled
mig.mode.current Disabled
memory.total 143771
memory.reserved 600
memory.used 1024
power.draw 131.74
power.limit 700.00
enforced.power.limit 650.00
power.default_limit 700.00
power.min_limit 200.00
power.max_limit 700.00
clocks_event_reasons.active 0x0000000000000001
pcie.link.gen.current 1
pcie.link.gen.max 5
pcie.link.width.current 16
pcie.link.width.max 16
temperature.gpu 31
utilization.gpu 7
clocks.sm 345
clocks.mem 2619
board
uuid GPU-2
name NVIDIA L40S
mig.mode.current [N/A]
memory.used 11
power.draw [N/A]
power.limit [Not Supported]
temperature.gpu ERR!
utilization.gpu [Unknown Error]
app GPU-1 77 900 /usr/bin/python3, -m server
app GPU-2 78 - [Not Found]
)";

/// The real way to the program: a process for each question.
class Smi : public testing::Test {
 protected:
  ~Smi() override { ::unsetenv("DEEM_FAKE_SMI"); }
  void tell(const std::string& script) {
    ::setenv("DEEM_FAKE_SMI", folder.write("script", script).c_str(), 1);
  }
  Result<std::unique_ptr<Source>> open(const std::string& script, Seconds patience = Seconds(20)) {
    tell(script);
    return open_smi(DEEM_FAKE_SMI, patience);
  }
  std::string calls() const { return read_file(folder.at("script.calls")).value_or(""); }

  fake::TestFolder folder;
  const std::vector<std::string> both = {"GPU-1", "GPU-2"};
};

TEST_F(Smi, TellsWhatABoardTellsAndNothingElse) {
  auto source = open(kTwo);
  ASSERT_TRUE(source) << source.error().message;
  const std::vector<BoardInfo> boards = (*source)->list();
  ASSERT_EQ(boards.size(), 2U);
  const BoardInfo& b = boards[0];
  EXPECT_EQ(b.id, "GPU-1");
  EXPECT_EQ(b.name, "NVIDIA H200");
  EXPECT_EQ(b.pci, "00000000:06:00.0");
  EXPECT_EQ(b.source, "nvidia-smi");
  EXPECT_EQ(b.error, "");
  EXPECT_EQ(b.driver, "550.54.15");
  EXPECT_EQ(b.compute_capability, "9.0");
  EXPECT_EQ(b.persistence, true);
  EXPECT_EQ(b.ecc, true);
  EXPECT_EQ(b.mig, false);
  EXPECT_EQ(b.memory_total_mib, 143771);
  EXPECT_EQ(b.memory_reserved_mib, 600);
  EXPECT_EQ(b.memory_used_mib, 1024);
  EXPECT_EQ(b.limit_requested_w, 700);
  EXPECT_EQ(b.limit_enforced_w, 650) << "the least of all limiters";
  EXPECT_EQ(b.limit_default_w, 700);
  EXPECT_EQ(b.limit_min_w, 200);
  EXPECT_EQ(b.limit_max_w, 700);
  EXPECT_EQ(b.clock_reasons, 1U);
  EXPECT_EQ(b.link_generation, 1);
  EXPECT_EQ(b.link_generation_max, 5);
  EXPECT_EQ(b.link_width, 16);
  EXPECT_EQ(b.link_width_max, 16);
  EXPECT_EQ(b.temperature_c, 31);
  EXPECT_EQ(b.utilisation_percent, 7);
  EXPECT_EQ(b.sm_mhz, 345);
  EXPECT_EQ(b.memory_mhz, 2619);
  EXPECT_FALSE(b.has_counter) << "it has no energy field";
  const BoardInfo& bare = boards[1];
  EXPECT_EQ(bare.name, "NVIDIA L40S");
  EXPECT_EQ(bare.error, "");
  EXPECT_FALSE(bare.memory_total_mib || bare.limit_requested_w || bare.limit_enforced_w ||
               bare.temperature_c || bare.utilisation_percent || bare.mig || bare.clock_reasons)
      << "not told is not 0";
}

TEST_F(Smi, ReadsBoardsInTheOrderAskedFor) {
  auto source = open(kTwo);
  ASSERT_TRUE(source) << source.error().message;
  const std::vector<std::string> ids = {"GPU-2", "GPU-none", "GPU-1"};
  const Readings now = (*source)->read(ids);
  ASSERT_EQ(now.boards.size(), 3U);
  EXPECT_EQ(now.errors[0], "");
  EXPECT_FALSE(now.boards[0].watts) << "[N/A] is not 0 W";
  EXPECT_EQ(now.boards[0].memory_mib, 11);
  EXPECT_NE(now.errors[1], "");
  EXPECT_EQ(now.boards[2].watts, 131.74);
  EXPECT_EQ(now.boards[2].memory_mib, 1024);
  EXPECT_EQ(now.boards[2].utilisation_percent, 7);
  EXPECT_EQ(now.boards[2].temperature_c, 31);
  EXPECT_EQ(now.boards[2].sm_mhz, 345);
  EXPECT_EQ(now.boards[2].clock_reasons, 1U);
  EXPECT_FALSE(now.boards[2].energy_j);
  EXPECT_EQ((*source)->least_period_s(), 1) << "a process a reading is not for ten a second";
}

TEST_F(Smi, ListsProcessesWhateverTheirNames) {
  auto source = open(kTwo);
  ASSERT_TRUE(source) << source.error().message;
  const auto processes = (*source)->processes(both);
  ASSERT_EQ(processes.size(), 2U);
  EXPECT_EQ(processes[0].board, "GPU-1");
  EXPECT_EQ(processes[0].pid, 77);
  EXPECT_EQ(processes[0].used_mib, 900);
  EXPECT_EQ(processes[0].command, "/usr/bin/python3, -m server");
  EXPECT_EQ(processes[1].pid, 78);
  EXPECT_FALSE(processes[1].used_mib);
  EXPECT_EQ(processes[1].command, "");
  const std::vector<std::string> one = {"GPU-2"};
  EXPECT_EQ((*source)->processes(one).size(), 1U);
}

TEST_F(Smi, AsksOnlyForFieldsOfItsList) {
  // An old version: one unknown field would fail the whole query.
  auto source =
      open("help\nboard\nuuid GPU-1\npower.draw 50.5\nclocks_throttle_reasons.active 0x4\n");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->list().at(0).clock_reasons, 4U);
  EXPECT_EQ((*source)->read(std::vector<std::string>{"GPU-1"}).boards.at(0).watts, 50.5);
  EXPECT_NE(calls().find("--query-gpu=uuid,power.draw,clocks_throttle_reasons.active "
                         "--format=csv,noheader,nounits\n"),
            std::string::npos)
      << calls();
}

TEST_F(Smi, WithoutAListOfFieldsItAsksAsTheReferenceBenchDoes) {
  auto source = open(
      "board\nuuid GPU-1\nmemory.used 9\npower.draw 60.25\nclocks.sm 1980\ntemperature.gpu 40\n");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(calls(),
            "--help-query-gpu\n"
            "--query-gpu=uuid,memory.used,power.draw,clocks.sm,temperature.gpu "
            "--format=csv,noheader,nounits\n");
  const Readings now = (*source)->read(std::vector<std::string>{"GPU-1"});
  EXPECT_EQ(now.boards.at(0).watts, 60.25);
  EXPECT_EQ(now.boards.at(0).memory_mib, 9);
  EXPECT_EQ(now.boards.at(0).sm_mhz, 1980);
  EXPECT_EQ(now.boards.at(0).temperature_c, 40);
}

TEST_F(Smi, OrInItsOtherForm) {
  auto source = open("board\nuuid GPU-1\nmemory.used 9\npower.draw 60.25\nutilization.gpu 88\n");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_TRUE(
      calls().ends_with("--query-gpu=uuid,timestamp,power.draw,memory.used,utilization.gpu "
                        "--format=csv,noheader,nounits\n"))
      << calls();
  const Readings now = (*source)->read(std::vector<std::string>{"GPU-1"});
  EXPECT_EQ(now.boards.at(0).watts, 60.25);
  EXPECT_EQ(now.boards.at(0).utilisation_percent, 88);
}

TEST_F(Smi, ALostBoardDoesNotHideTheOthers) {
  auto source = open(kTwo);
  ASSERT_TRUE(source) << source.error().message;
  ASSERT_EQ((*source)->list().size(), 2U);
  // It prints what it reached, says why it ends, and fails: exit code 15.
  std::string now = kTwo;
  now.erase(now.rfind("board\nuuid GPU-2"));
  tell(now +
       "after Unable to determine the device handle for GPU 00000000:07:00.0: GPU is lost.\n"
       "exit 15\n");
  const Readings readings = (*source)->read(both);
  EXPECT_EQ(readings.errors.at(0), "");
  EXPECT_EQ(readings.boards.at(0).watts, 131.74);
  EXPECT_NE(readings.errors.at(1), "");
  const auto boards = (*source)->list();
  ASSERT_EQ(boards.size(), 2U) << "it stays, with its error";
  EXPECT_EQ(boards[1].id, "GPU-2");
  EXPECT_EQ(boards[1].name, "NVIDIA L40S");
  EXPECT_NE(boards[1].error, "");
  bool found = false;
  for (const Check& check : (*source)->checks()) {
    found |= check.name == "reach" && check.verdict == Check::Verdict::Finding &&
             check.says.find("GPU is lost") != std::string::npos;
  }
  EXPECT_TRUE(found);
}

TEST_F(Smi, ABoardThatNeedsAResetIsNotRead) {
  auto source = open(
      "help\nboard\nuuid GPU-1\npower.draw 55\nmemory.used 0\nutilization.gpu [GPU requires "
      "reset]\n");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->list().at(0).error, "GPU requires reset");
  const Readings now = (*source)->read(std::vector<std::string>{"GPU-1"});
  EXPECT_EQ(now.errors.at(0), "GPU requires reset");
  EXPECT_FALSE(now.boards.at(0).watts || now.boards.at(0).memory_mib);
}

TEST_F(Smi, AProgramThatDiesHalfwayIsAFinding) {
  auto source = open(std::string(kTwo) + "kill 9\n");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->list().size(), 2U);
  bool found = false;
  for (const Check& check : (*source)->checks()) {
    found |= check.verdict == Check::Verdict::Finding &&
             check.says.find("killed by signal 9") != std::string::npos;
  }
  EXPECT_TRUE(found);
}

struct RefusalCase {
  const char *name, *script, *says;
};
class SmiRefusal : public Smi, public testing::WithParamInterface<RefusalCase> {};

TEST_P(SmiRefusal, IsToldInItsOwnWords) {
  const auto source = open(GetParam().script);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, Error::Code::Unavailable);
  EXPECT_NE(source.error().message.find(GetParam().says), std::string::npos)
      << source.error().message;
  EXPECT_EQ(source.error().message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SmiRefusal,
    testing::Values(
        RefusalCase{"NoDriver",
                    "text NVIDIA-SMI has failed because it couldn't communicate with the driver.\n"
                    "exit 9\n",
                    "couldn't communicate with the driver"},
        RefusalCase{"NoBoards", "text No devices were found\nexit 6\n", "No devices were found"},
        RefusalCase{"OnStderr",
                    "error Failed to initialize NVML: Driver/library mismatch\nexit 18\n",
                    "Driver/library mismatch"},
        RefusalCase{"Silent", "silent\nexit 3\n", "exit code 3"},
        RefusalCase{"GarbageThatSucceeds", "text <html>\x1b[31m, 1, 2\n", "<html>"},
        RefusalCase{"HelpWithoutAUuid", "help\nboard\npower.draw 5\n", "not a valid field"}),
    [](const auto& p) { return p.param.name; });

TEST_F(Smi, ThatIsNotThereIsNotFound) {
  const auto source = open_smi("/nowhere/nvidia-smi");
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, Error::Code::NotFound);
}

TEST_F(Smi, ThatHangsIsAskedOnceAndKilled) {
  const TimePoint begin = Clock::now();
  const auto source = open("hang\n", Seconds(0.5));
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, Error::Code::Timeout);
  EXPECT_EQ(calls().find("--query-gpu"), std::string::npos) << calls();
  EXPECT_GE(Seconds(Clock::now() - begin).count(), 0.5);
}

TEST_F(Smi, ThatHangsLaterCostsItsReadingsOnly) {
  auto source = open(kTwo, Seconds(2));
  ASSERT_TRUE(source) << source.error().message;
  ASSERT_EQ((*source)->list().size(), 2U);
  tell(std::string(kTwo) + "hang_later\n");
  const Readings now = (*source)->read(both);
  for (const std::string& error : now.errors) {
    EXPECT_NE(error.find("still running"), std::string::npos) << error;
  }
  tell(kTwo);
  EXPECT_EQ((*source)->read(both).errors, (std::vector<std::string>{"", ""}));
}

struct ProcessCase {
  const char *name, *script, *says;
};
class SmiProcesses : public Smi, public testing::WithParamInterface<ProcessCase> {};

// A list that is not whole must not make memory look as if nobody held it.
TEST_P(SmiProcesses, ThatAreNotAllToldMakeMemoryNotMeasured) {
  auto source = open(std::string(kTwo) + GetParam().script);
  ASSERT_TRUE(source) << source.error().message;
  (*source)->processes(both);
  std::string says;
  for (const Check& check : (*source)->checks()) {
    if (check.name != "memory") continue;
    EXPECT_EQ(check.verdict, Check::Verdict::NotMeasured);
    says += check.says;
  }
  EXPECT_NE(says.find(GetParam().says), std::string::npos) << says;
}

INSTANTIATE_TEST_SUITE_P(
    Table, SmiProcesses,
    testing::Values(ProcessCase{"Failed", "apps_exit 4\n", "GPU-1, 77"},
                    ProcessCase{"Garbage", "app_line Out of memory\n", "Out of memory"},
                    ProcessCase{"NoPid", "app GPU-2 [N/A] 5 x\n", "no number"},
                    ProcessCase{"OfNoInstance", "app MIG-9 5 5 x\n", "no board has MIG-9"}),
    [](const auto& p) { return p.param.name; });

TEST_F(Smi, ProcessesOfAnInstanceAreItsBoards) {
  auto source = open(
      "help\nboard\nuuid GPU-1\nmig.mode.current Enabled\nboard\nuuid GPU-2\n"
      "mig.mode.current Disabled\n"
      "list GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\n"
      "list   MIG 1g.10gb     Device  0: (UUID: MIG-a)\n"
      "list   MIG 2g.20gb     Device  1: (UUID: MIG-b)\n"
      "list GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-2)\n"
      "app MIG-b 5 100 python3\napp GPU-2 6 200 python3\n");
  ASSERT_TRUE(source) << source.error().message;
  const auto boards = (*source)->list();
  ASSERT_EQ(boards.size(), 2U);
  EXPECT_EQ(boards[0].mig, true);
  ASSERT_EQ(boards[0].instances.size(), 2U);
  EXPECT_EQ(boards[0].instances[1].id, "MIG-b");
  EXPECT_EQ(boards[0].instances[1].name, "MIG 2g.20gb");
  EXPECT_TRUE(boards[1].instances.empty());
  const auto processes = (*source)->processes(both);
  ASSERT_EQ(processes.size(), 2U);
  EXPECT_EQ(processes[0].board, "GPU-1");
  EXPECT_EQ(processes[0].instance, "MIG-b");
  EXPECT_EQ(processes[1].board, "GPU-2");
  EXPECT_EQ(processes[1].instance, "");
}

TEST_F(Smi, ABoardListedTwiceIsOneBoardAndAFinding) {
  auto source = open("help\nboard\nuuid GPU-1\nboard\nuuid GPU-1\n");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->list().size(), 1U);
  EXPECT_EQ((*source)->checks().back().verdict, Check::Verdict::Finding);
}

TEST_F(Smi, IsFoundByTheOptionsWhereThereIsNoNvml) {
  tell(kTwo);
  folder.write("sys/bus/pci/devices/0000:06:00.0/vendor", "0x10de\n");
  folder.write("sys/bus/pci/devices/0000:06:00.0/class", "0x030200\n");
  const auto boards = open_boards({.nvml_library = folder.at("none.so"),
                                   .nvidia_smi = DEEM_FAKE_SMI,
                                   .sysfs = folder.at("sys"),
                                   .proc = folder.at("proc")});
  ASSERT_TRUE(boards) << boards.error().message;
  const Inventory all = (*boards)->inventory();
  ASSERT_EQ(all.boards.size(), 2U);
  EXPECT_EQ(all.boards[0].source, "nvidia-smi");
  EXPECT_EQ((*boards)->least_period_s(both), 1);
  bool counted = false;
  for (const Check& check : all.checks) {
    if (check.name != "count") continue;
    counted = true;
    EXPECT_EQ(check.verdict, Check::Verdict::Finding) << check.says;
    EXPECT_NE(check.says.find("driver tells 2, the bus has 1"), std::string::npos) << check.says;
  }
  EXPECT_TRUE(counted);
}

}  // namespace
}  // namespace deem::board

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/file.h"
#include "board/board.h"
#include "board/sources.h"

namespace deem::board {
namespace {

/// The real way to a board: a library opened at run time, scripted by a file.
class Nvml : public testing::TestWithParam<const char*> {
 protected:
  Result<std::unique_ptr<Source>> open(const std::string& script) {
    const std::string path = testing::TempDir() + "fake_nvml_script";
    std::ofstream(path) << script;
    ::setenv("DEEM_FAKE_NVML", path.c_str(), 1);
    return open_nvml(GetParam());
  }
};

constexpr const char* kTwo =
    "driver 550.54.15\ncuda 12040\n"
    "board GPU-1\nname NVIDIA H200\npci 0 6 0\nmemory 143771 600 1024\npower 131.74\n"
    "limits 700 650 700 200 700\nprocess compute 77 900\n"
    "board GPU-2\nname NVIDIA L40S\npci 0 7 0\n";

TEST_P(Nvml, TellsWhatABoardTellsAndNothingElse) {
  auto source = open(kTwo);
  ASSERT_TRUE(source) << source.error().message;
  const std::vector<BoardInfo> boards = (*source)->list();
  ASSERT_EQ(boards.size(), 2U);
  EXPECT_EQ(boards[0].id, "GPU-1");
  EXPECT_EQ(boards[0].name, "NVIDIA H200");
  EXPECT_EQ(boards[0].memory_total_mib, 143771);
  EXPECT_EQ(boards[0].limit_enforced_w, 650);
  EXPECT_EQ(boards[0].limit_min_w, 200);
  EXPECT_EQ(boards[0].driver, "550.54.15");
  // Drivers of old have no nvmlSystemGetCudaDriverVersion_v2.
  const bool old = std::string(GetParam()) == DEEM_FAKE_NVML_OLD;
  EXPECT_EQ(boards[0].cuda, old ? "" : "12.4");
  EXPECT_FALSE(boards[1].memory_total_mib) << "not supported is not 0";
  EXPECT_FALSE(boards[1].limit_enforced_w);
  EXPECT_FALSE(boards[1].temperature_c);
  EXPECT_FALSE(boards[1].has_counter);
  const std::vector<std::string> ids = {"GPU-2", "GPU-1"};
  const Readings now = (*source)->read(ids);
  ASSERT_EQ(now.boards.size(), 2U);
  EXPECT_FALSE(now.boards[0].watts);
  ASSERT_TRUE(now.boards[1].watts);
  EXPECT_NEAR(*now.boards[1].watts, 131.74, 1e-9);
}

TEST_P(Nvml, ListsProcessesHoweverTheListGrows) {
  auto source = open(std::string(kTwo) + "board GPU-3\npci 0 8 0\nprocess compute 5 100\ngrow 3\n");
  ASSERT_TRUE(source) << source.error().message;
  const std::vector<std::string> ids = {"GPU-1", "GPU-3"};
  const auto processes = (*source)->processes(ids);
  ASSERT_GE(processes.size(), 2U);
  EXPECT_EQ(processes[0].board, "GPU-1");
  EXPECT_EQ(processes[0].pid, 77);
  EXPECT_EQ(processes[0].used_mib, 900);
  EXPECT_EQ(processes[1].board, "GPU-3");
  EXPECT_EQ(processes[1].pid, 5);
  EXPECT_EQ(processes[1].used_mib, 100);
}

TEST_P(Nvml, ALostBoardDoesNotHideTheOthers) {
  auto source = open(std::string(kTwo) + "lost 0 1e9\n");  // GPU-2
  ASSERT_TRUE(source) << source.error().message;
  const std::vector<std::string> ids = {"GPU-1", "GPU-2"};
  const Readings now = (*source)->read(ids);
  EXPECT_TRUE(now.boards.at(0).watts);
  EXPECT_EQ(now.errors.at(0), "");
}

TEST_P(Nvml, ADriverThatIsNotThereIsSaid) {
  const auto source = open("fail nvmlInit_v2 9\nfail nvmlInitWithFlags 9\nfail nvmlInit 9\n");
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, Error::Code::Unavailable);
}

INSTANTIATE_TEST_SUITE_P(Drivers, Nvml,
                         testing::Values(DEEM_FAKE_NVML, DEEM_FAKE_NVML_OLD, DEEM_FAKE_NVML_WIDE));

TEST(NvmlCounter, IsInJoulesAndAbsentWhereNotSupported) {
  const std::string path = testing::TempDir() + "fake_nvml_counter";
  std::ofstream(path) << "driver 1.2\nboard GPU-1\npci 0 6 0\npower 0\nenergy 1234.5\n";
  ::setenv("DEEM_FAKE_NVML", path.c_str(), 1);
  auto source = open_nvml(DEEM_FAKE_NVML);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_TRUE((*source)->list().at(0).has_counter);
  const std::vector<std::string> ids = {"GPU-1"};
  ASSERT_TRUE((*source)->read(ids).boards.at(0).energy_j);
  EXPECT_NEAR(*(*source)->read(ids).boards.at(0).energy_j, 1234.5, 1e-6);
  auto old = open_nvml(DEEM_FAKE_NVML_OLD);
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_FALSE((*old)->list().at(0).has_counter);
}

TEST(NvmlLibrary, ThatIsNotThereIsNotFound) {
  const auto source = open_nvml("/nowhere/libnvidia-ml.so.1");
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, Error::Code::NotFound);
}

}  // namespace
}  // namespace deem::board

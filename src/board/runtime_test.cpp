#include "board/runtime.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace deem::board {
namespace {

TEST(RuntimeLibraries, AreTheMappedGpuRuntimesEachOnce) {
  const std::string proc = testing::TempDir() + "runtime_proc";
  std::filesystem::create_directories(proc + "/7");
  std::ofstream(proc + "/7/maps")
      << "7f0000-7f1000 r--p 00000000 08:01 1  /usr/lib/x86_64-linux-gnu/libc.so.6\n"
         "7f2000-7f3000 r-xp 00000000 08:01 2  /opt/venv/lib/libcudart-9335f6a2.so.12.8.90\n"
         "7f3000-7f4000 r--p 00001000 08:01 2  /opt/venv/lib/libcudart-9335f6a2.so.12.8.90\n"
         "7f5000-7f6000 r-xp 00000000 08:01 3  /usr/lib/libcuda.so.550.54.14 (deleted)\n"
         "7f6000-7f7000 r-xp 00000000 08:01 4  /usr/lib/libcudart_static_notes.so.1\n"
         "7f7000-7f8000 rw-p 00000000 00:00 0  [heap]\n";
  EXPECT_EQ(runtime_libraries({7, 8}, proc),
            (std::vector<RuntimeLibrary>{{"libcuda", "550.54.14"}, {"libcudart", "12.8.90"}}));
}

struct RuntimeCase {
  const char* name;
  RuntimeLibrary library;
  const char *driver_cuda, *driver, *says;  // says "": no finding
};
class CheckRuntime : public testing::TestWithParam<RuntimeCase> {};

TEST_P(CheckRuntime, NamesARuntimeNewerThanTheDriver) {
  const RuntimeCase& c = GetParam();
  const auto finding = check_runtime({c.library}, c.driver_cuda, c.driver);
  if (*c.says == '\0') {
    EXPECT_FALSE(finding) << *finding;
  } else {
    ASSERT_TRUE(finding);
    EXPECT_NE(finding->find(c.says), std::string::npos) << *finding;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, CheckRuntime,
    testing::Values(
        RuntimeCase{"Older", {"libcudart", "12.1.105"}, "12.4", "550.54.14", ""},
        RuntimeCase{"Same", {"libcudart", "12.4.127"}, "12.4", "550.54.14", ""},
        RuntimeCase{"MinorNewer", {"libcudart", "12.8.90"}, "12.4", "550.54.14", "minor-version"},
        RuntimeCase{"MajorNewer", {"libcudart", "13.0.48"}, "12.4", "550.54.14", "newer driver"},
        RuntimeCase{"NineIsOlderThanTen", {"libcudart", "12.9"}, "12.10", "1.2", ""},
        RuntimeCase{"MajorOnly", {"libcudart", "12"}, "12.4", "550.54.14", ""},
        RuntimeCase{"DriversOwnLibrary", {"libcuda", "550.54.14"}, "12.4", "550.54.14", ""},
        RuntimeCase{
            "LeftFromAnotherDriver", {"libcuda", "535.1.2"}, "12.4", "550.54.14", "535.1.2"},
        RuntimeCase{"SonameOnly", {"libcuda", "1"}, "12.4", "550.54.14", ""}),
    [](const auto& p) { return p.param.name; });

TEST(CheckRuntime, WithoutADriverNothingIsSaid) {
  EXPECT_FALSE(check_runtime({{"libcudart", "13.0.48"}}, std::nullopt, std::nullopt));
}

}  // namespace
}  // namespace deem::board

#include <gtest/gtest.h>

#include "board/board.h"
#include "board/fake/test_folder.h"
#include "board/sources.h"

namespace deem::board {
namespace {

/// A folder that stands for /sys/class/powercap.
class Rapl : public testing::Test {
 protected:
  void zone(const std::string& place, const std::string& name, const std::string& energy_uj,
            const std::string& range_uj = "262143328850\n") {
    const std::string at = "class/powercap/" + place + "/";
    folder.write(at + "name", name + "\n");
    folder.write(at + "energy_uj", energy_uj);
    if (!range_uj.empty()) folder.write(at + "max_energy_range_uj", range_uj);
  }
  std::unique_ptr<Source> open() { return open_rapl(folder.path()); }
  static std::optional<double> energy(Source& source, const std::string& id) {
    return source.read(std::vector<std::string>{id}).boards.at(0).energy_j;
  }

  fake::TestFolder folder;
};

TEST_F(Rapl, PackagesAndTheirMemoryCountNothingTwice) {
  zone("intel-rapl:0", "package-0", "5000000\n");
  zone("intel-rapl:0:0", "core", "3000000\n");
  zone("intel-rapl:0:1", "uncore", "1000000\n");
  zone("intel-rapl:0:2", "dram", "700000\n");
  zone("intel-rapl:1", "psys", "9000000\n");
  zone("intel-rapl-mmio:0", "package-0", "5000000\n");
  folder.write("class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "125000000\n");
  folder.write("class/powercap/intel-rapl:0/constraint_0_max_power_uw", "253000000\n");
  folder.write("class/powercap/intel-rapl/enabled", "1\n");
  const auto source = open();
  ASSERT_NE(source, nullptr);
  const std::vector<BoardInfo> boards = source->list();
  ASSERT_EQ(boards.size(), 2U);
  EXPECT_EQ(boards[0].id, "rapl:package-0");
  EXPECT_NEAR(boards[0].limit_enforced_w.value_or(0), 125, 1e-9);
  EXPECT_NEAR(boards[0].limit_max_w.value_or(0), 253, 1e-9);
  EXPECT_TRUE(boards[0].has_counter);
  EXPECT_EQ(boards[0].source, "rapl");
  EXPECT_EQ(boards[1].id, "rapl:dram-0");
  EXPECT_FALSE(boards[1].limit_enforced_w) << "no file, not 0";
  EXPECT_NEAR(energy(*source, "rapl:package-0").value_or(0), 5, 1e-9);
  EXPECT_NEAR(energy(*source, "rapl:dram-0").value_or(0), 0.7, 1e-9);
  const Readings none = source->read(std::vector<std::string>{"rapl:package-7"});
  EXPECT_NE(none.errors.at(0), "");
  EXPECT_FALSE(none.boards.at(0).energy_j);
}

TEST_F(Rapl, MemoryIsNamedAsItsPackageIs) {
  zone("intel-rapl:0", "package-1", "1\n");  // the zones' numbers are not the packages'
  zone("intel-rapl:0:0", "dram", "2\n");
  zone("intel-rapl:1", "package-0", "3\n");
  zone("intel-rapl:1:0", "dram", "4\n");
  const auto source = open();
  ASSERT_NE(source, nullptr);
  EXPECT_NEAR(energy(*source, "rapl:dram-1").value_or(0), 2e-6, 1e-12);
  EXPECT_NEAR(energy(*source, "rapl:dram-0").value_or(0), 4e-6, 1e-12);
}

TEST_F(Rapl, AWrapOfTheCounterGoesOn) {
  zone("intel-rapl:0", "package-0", "262143000000\n");
  const auto source = open();
  ASSERT_NE(source, nullptr);
  const double before = energy(*source, "rapl:package-0").value_or(0);
  EXPECT_NEAR(before, 262143, 1e-6);
  zone("intel-rapl:0", "package-0", "1000000\n");
  // 328,850 µJ to its end, and 1,000,000 from its begin.
  EXPECT_NEAR(energy(*source, "rapl:package-0").value_or(0) - before, 1.328850, 1e-6);
  zone("intel-rapl:0", "package-0", "2000000\n");
  EXPECT_NEAR(energy(*source, "rapl:package-0").value_or(0) - before, 2.328850, 1e-6);
  zone("intel-rapl:0", "package-0", "0\n");  // again
  EXPECT_NEAR(energy(*source, "rapl:package-0").value_or(0) - before, 262143.328850 + 0.328850,
              1e-6);
}

TEST_F(Rapl, WithoutItsRangeAWrapIsSeenAsGoingBack) {
  zone("intel-rapl:0", "package-0", "9000000\n", "");
  const auto source = open();
  ASSERT_NE(source, nullptr);
  EXPECT_NEAR(energy(*source, "rapl:package-0").value_or(0), 9, 1e-9);
  zone("intel-rapl:0", "package-0", "1000000\n", "");
  EXPECT_NEAR(energy(*source, "rapl:package-0").value_or(0), 1, 1e-9);
}

TEST_F(Rapl, ACounterForRootOnlyIsSaidAndNotZero) {
  zone("intel-rapl:0", "package-0", "5000000\n");
  std::filesystem::permissions(folder.at("class/powercap/intel-rapl:0/energy_uj"),
                               std::filesystem::perms::none);
  const auto source = open();
  ASSERT_NE(source, nullptr);
  const fake::AsNobody nobody;
  const std::vector<BoardInfo> boards = source->list();
  ASSERT_EQ(boards.size(), 1U);
  EXPECT_NE(boards[0].error.find("readable by root only"), std::string::npos) << boards[0].error;
  EXPECT_FALSE(boards[0].has_counter);
  const Readings now = source->read(std::vector<std::string>{"rapl:package-0"});
  EXPECT_FALSE(now.boards.at(0).energy_j);
  EXPECT_NE(now.errors.at(0), "");
  const std::vector<Check> checks = source->checks();
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].name, "permission");
  EXPECT_EQ(checks[0].board, "rapl:package-0");
  EXPECT_EQ(checks[0].verdict, Check::Verdict::NotMeasured);
  EXPECT_TRUE(choose_boards(boards, {}).value().empty()) << "not taken where none was named";
}

TEST_F(Rapl, WhatIsNoNumberIsSaid) {
  zone("intel-rapl:0", "package-0", "many\n");
  const auto source = open();
  ASSERT_NE(source, nullptr);
  EXPECT_NE(source->list().at(0).error.find("no number"), std::string::npos);
  folder.remove("class/powercap/intel-rapl:0/energy_uj");
  EXPECT_NE(source->list().at(0).error.find("no such file"), std::string::npos)
      << source->list().at(0).error;
}

TEST_F(Rapl, WithoutAPackageThereIsNoSource) {
  EXPECT_EQ(open(), nullptr);
  zone("intel-rapl:0", "psys", "5\n");
  zone("dtpm:0", "package-0", "5\n");
  EXPECT_EQ(open(), nullptr);
}

}  // namespace
}  // namespace deem::board

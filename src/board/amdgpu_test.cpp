#include <gtest/gtest.h>

#include "board/board.h"
#include "board/fake/test_folder.h"
#include "board/sources.h"
#include "board/sysfs.h"

namespace deem::board {
namespace {

constexpr const char* kId = "amdgpu:0000:03:00.0";

/// Folders that stand for /sys and /proc, laid out as the kernel's amdgpu does.
class Amdgpu : public testing::Test {
 protected:
  Amdgpu() {
    card("vendor", "0x1002\n");
    card("class", "0x030000\n");
    card("uevent", "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:744C\n");
    std::filesystem::create_directories(folder.at("proc"));
  }
  void card(const std::string& name, const std::string& text) {
    folder.write("sys/bus/pci/devices/0000:03:00.0/" + name, text);
  }
  void hwmon(const std::string& name, const std::string& text) {
    card("hwmon/hwmon4/" + name, text);
  }
  std::unique_ptr<Source> open() { return open_amdgpu(folder.at("sys"), folder.at("proc")); }
  record::PowerReading read() {
    const auto source = open();
    return source == nullptr ? record::PowerReading{} : source->read(ids).boards.at(0);
  }

  fake::TestFolder folder;
  const std::vector<std::string> ids = {kId};
};

TEST_F(Amdgpu, TellsWhatItsFilesTell) {
  card("device", "0x744c\n");
  card("product_name", "Radeon PRO W7900\n");
  card("unique_id", "5ca1ab1e\n");
  card("mem_info_vram_total", "48301604864\n");  // 46063.046875 MiB
  card("mem_info_vram_used", "1073741824\n");
  card("gpu_busy_percent", "37\n");
  card("current_link_speed", "2.5 GT/s PCIe\n");
  card("max_link_speed", "16.0 GT/s PCIe\n");
  card("current_link_width", "16\n");
  card("max_link_width", "16\n");
  hwmon("power1_average", "98000000\n");
  hwmon("power1_cap", "241000000\n");
  hwmon("power1_cap_default", "241000000\n");
  hwmon("power1_cap_min", "0\n");
  hwmon("power1_cap_max", "295000000\n");
  hwmon("temp1_input", "45000\n");
  hwmon("freq1_label", "sclk\n");
  hwmon("freq1_input", "2400000000\n");
  hwmon("freq2_label", "mclk\n");
  hwmon("freq2_input", "1124000000\n");
  const auto source = open();
  ASSERT_NE(source, nullptr);
  const BoardInfo b = source->list().at(0);
  EXPECT_EQ(b.id, kId);
  EXPECT_EQ(b.name, "Radeon PRO W7900 5ca1ab1e");
  EXPECT_EQ(b.pci, "0000:03:00.0");
  EXPECT_EQ(b.source, "amdgpu");
  EXPECT_EQ(b.error, "");
  EXPECT_NEAR(b.memory_total_mib.value_or(0), 48301604864.0 / 1048576, 1e-6);
  EXPECT_EQ(b.memory_used_mib, 1024);
  EXPECT_NEAR(b.limit_enforced_w.value_or(0), 241, 1e-9);
  EXPECT_EQ(b.limit_min_w, 0) << "0 that is told is 0";
  EXPECT_NEAR(b.limit_max_w.value_or(0), 295, 1e-9);
  EXPECT_EQ(b.link_generation, 1);
  EXPECT_EQ(b.link_generation_max, 4);
  EXPECT_EQ(b.link_width, 16);
  EXPECT_NEAR(b.sm_mhz.value_or(0), 2400, 1e-9);
  EXPECT_NEAR(b.memory_mhz.value_or(0), 1124, 1e-9);
  EXPECT_FALSE(b.has_counter);
  const record::PowerReading now = source->read(ids).boards.at(0);
  EXPECT_NEAR(now.watts.value_or(0), 98, 1e-9);
  EXPECT_EQ(now.memory_mib, 1024);
  EXPECT_EQ(now.utilisation_percent, 37);
  EXPECT_NEAR(now.temperature_c.value_or(0), 45, 1e-9);
}

TEST_F(Amdgpu, WhatHasNoFileIsAbsent) {
  const auto source = open();
  ASSERT_NE(source, nullptr);
  const BoardInfo b = source->list().at(0);
  EXPECT_EQ(b.error, "");
  EXPECT_FALSE(b.memory_total_mib || b.memory_used_mib || b.limit_enforced_w || b.limit_max_w ||
               b.sm_mhz || b.memory_mhz || b.temperature_c || b.utilisation_percent ||
               b.link_generation || b.link_width);
  EXPECT_EQ(source->read(ids).boards.at(0), record::PowerReading{});
}

TEST_F(Amdgpu, WattsAreTheAverageElseTheMoments) {
  EXPECT_FALSE(read().watts);
  hwmon("power1_input", "50000000\n");
  EXPECT_NEAR(read().watts.value_or(0), 50, 1e-9);
  hwmon("power1_average", "60500000\n");
  EXPECT_NEAR(read().watts.value_or(0), 60.5, 1e-9);
  hwmon("power1_average", "n/a\n");
  EXPECT_NEAR(read().watts.value_or(0), 50, 1e-9) << "one that is no number is none";
  hwmon("power1_input", std::string(5000, '1'));
  EXPECT_FALSE(read().watts) << "no value of the kernel's is that long";
}

TEST_F(Amdgpu, CountsItsEnergyWhereItHasACounter) {
  hwmon("energy1_input", "1500000\n");
  EXPECT_NEAR(read().energy_j.value_or(0), 1.5, 1e-9);
  EXPECT_TRUE(open()->list().at(0).has_counter);
}

struct LinkCase {
  const char *name, *text;
  std::optional<std::int64_t> generation;
};
class AmdgpuLink : public Amdgpu, public testing::WithParamInterface<LinkCase> {};

TEST_P(AmdgpuLink, HasTheGenerationOfItsRate) {
  card("current_link_speed", GetParam().text);
  EXPECT_EQ(open()->list().at(0).link_generation, GetParam().generation);
}

// PCI Express base specifications 1.0 to 6.0.
INSTANTIATE_TEST_SUITE_P(
    Table, AmdgpuLink,
    testing::Values(LinkCase{"First", "2.5 GT/s PCIe\n", 1}, LinkCase{"Second", "5.0 GT/s PCIe", 2},
                    LinkCase{"Third", "8.0 GT/s PCIe", 3}, LinkCase{"Fourth", "16.0 GT/s PCIe", 4},
                    LinkCase{"Fifth", "32.0 GT/s PCIe", 5}, LinkCase{"Sixth", "64.0 GT/s PCIe", 6},
                    LinkCase{"KernelsOfOld", "8 GT/s", 3}, LinkCase{"Unknown", "Unknown\n", {}},
                    LinkCase{"NoSuchRate", "12 GT/s", {}}, LinkCase{"NoUnit", "8.0", {}},
                    LinkCase{"Empty", "", {}}),
    [](const auto& p) { return p.param.name; });

TEST_F(Amdgpu, AnAcceleratorWithoutADisplayIsABoard) {
  card("class", "0x120000\n");  // an MI300X
  ASSERT_NE(open(), nullptr);
}

struct OtherCase {
  const char *name, *file, *text;
};
class AmdgpuOther : public Amdgpu, public testing::WithParamInterface<OtherCase> {};

TEST_P(AmdgpuOther, IsNoBoard) {
  card(GetParam().file, GetParam().text);
  EXPECT_EQ(open(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Table, AmdgpuOther,
                         testing::Values(OtherCase{"AnotherDriver", "uevent", "DRIVER=vfio-pci\n"},
                                         OtherCase{"NoDriver", "uevent", "PCI_CLASS=30000\n"},
                                         OtherCase{"Sound", "class", "0x040300\n"},
                                         OtherCase{"AnotherMaker", "vendor", "0x8086\n"},
                                         OtherCase{"NoVendor", "vendor", "1002\n"}),
                         [](const auto& p) { return p.param.name; });

TEST_F(Amdgpu, ABoardThatLeftTheBusHasAnErrorAndNoFigures) {
  hwmon("power1_average", "98000000\n");
  const auto source = open();
  ASSERT_NE(source, nullptr);
  folder.remove("sys/bus/pci/devices/0000:03:00.0");
  EXPECT_NE(source->list().at(0).error, "");
  const Readings now = source->read(ids);
  EXPECT_NE(now.errors.at(0), "");
  EXPECT_EQ(now.boards.at(0), record::PowerReading{});
}

/// The text of /proc/PID/fdinfo/FD, as the kernel's drm-usage-stats has it.
std::string handle(const std::string& client, const std::string& memory) {
  return "pos:\t0\nflags:\t02100002\ndrm-driver:\tamdgpu\ndrm-client-id:\t" + client +
         "\ndrm-pdev:\t0000:03:00.0\n" +
         (memory.empty() ? "" : "drm-memory-vram:\t" + memory + "\n") + "drm-memory-gtt:\t4 KiB\n";
}

TEST_F(Amdgpu, ProcessesHoldWhatEachOfTheirClientsHolds) {
  folder.write("proc/77/fdinfo/0", "pos:\t0\nflags:\t02\n");
  folder.write("proc/77/fdinfo/5", handle("7", "1048576 KiB"));
  folder.write("proc/77/fdinfo/6", handle("7", "1048576 KiB"));  // the same client again
  folder.write("proc/77/fdinfo/7", handle("8", "512 MiB"));
  folder.write("proc/78/fdinfo/5", handle("9", "1048576"));  // bytes
  folder.write("proc/79/fdinfo/5", "drm-driver:\ti915\ndrm-pdev:\t0000:03:00.0\n");
  folder.write("proc/self/fdinfo/5", handle("10", "1 MiB"));
  const auto processes = open()->processes(ids);
  ASSERT_EQ(processes.size(), 2U);
  EXPECT_EQ(processes[0].pid, 77);
  EXPECT_EQ(processes[0].board, kId);
  EXPECT_EQ(processes[0].used_mib, 1024 + 512);
  EXPECT_EQ(processes[1].pid, 78);
  EXPECT_EQ(processes[1].used_mib, 1);
  EXPECT_TRUE(open()->processes(std::vector<std::string>{"amdgpu:0000:04:00.0"}).empty());
}

TEST_F(Amdgpu, WhatAClientDoesNotTellIsNotZero) {
  folder.write("proc/77/fdinfo/5", handle("7", "10 MiB"));
  folder.write("proc/77/fdinfo/6", handle("8", ""));
  const auto processes = open()->processes(ids);
  ASSERT_EQ(processes.size(), 1U);
  EXPECT_FALSE(processes[0].used_mib);
}

TEST_F(Amdgpu, HandlesThatAreNotOursToReadAreCounted) {
  folder.write("proc/77/fdinfo/5", handle("7", "10 MiB"));
  std::filesystem::permissions(folder.at("proc/77/fdinfo"), std::filesystem::perms::none);
  const auto source = open();
  {
    const fake::AsNobody nobody;
    EXPECT_TRUE(source->processes(ids).empty());
  }
  std::filesystem::permissions(folder.at("proc/77/fdinfo"), std::filesystem::perms::owner_all);
  const std::vector<Check> checks = source->checks();
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[1].name, "permission");
  EXPECT_EQ(checks[1].verdict, Check::Verdict::NotMeasured);
  EXPECT_NE(checks[1].says.find("1 processes"), std::string::npos) << checks[1].says;
}

TEST(PciBoards, WithoutABusThereIsAnError) {
  const fake::TestFolder folder;
  const auto boards = list_pci_boards(folder.path());
  ASSERT_FALSE(boards);
  EXPECT_EQ(boards.error().code, Error::Code::NotFound);
}

}  // namespace
}  // namespace deem::board

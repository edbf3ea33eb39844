#include "board/smi_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace deem::board {
namespace {

SmiLine line_of(std::string value) { return {.values = {{"x", std::move(value)}}, .error = ""}; }

struct ValueCase {
  const char* name;
  const char* text;
  std::optional<double> number;
};
class SmiValue : public testing::TestWithParam<ValueCase> {};

TEST_P(SmiValue, IsItsNumberOrAbsentNeverZeroForWhatIsNotTold) {
  EXPECT_EQ(line_of(GetParam().text).number("x"), GetParam().number);
}

// The forms of "there is none" that versions of nvidia-smi print.
INSTANTIATE_TEST_SUITE_P(
    Table, SmiValue,
    testing::Values(ValueCase{"Number", "131.74", 131.74}, ValueCase{"Zero", "0", 0.0},
                    ValueCase{"Spaces", "  650.00 ", {}},  // cells are trimmed before
                    ValueCase{"Na", "N/A", {}}, ValueCase{"BracketedNa", "[N/A]", {}},
                    ValueCase{"NotSupported", "[Not Supported]", {}},
                    ValueCase{"PlainNotSupported", "Not Supported", {}},
                    ValueCase{"Permissions", "[Insufficient Permissions]", {}},
                    ValueCase{"UnknownError", "[Unknown Error]", {}},
                    ValueCase{"NotFound", "Not Found", {}}, ValueCase{"Err", "ERR!", {}},
                    ValueCase{"Lost", "[GPU is lost]", {}},
                    ValueCase{"Reset", "[GPU requires reset]", {}}, ValueCase{"Empty", "", {}},
                    ValueCase{"WithItsUnit", "131.74 W", {}},  // was asked for without
                    ValueCase{"Nan", "nan", {}}, ValueCase{"Infinite", "inf", {}},
                    ValueCase{"TooLarge", "1e999", {}}, ValueCase{"Hex", "0x10", {}}),
    [](const auto& p) { return p.param.name; });

TEST(SmiBits, AreHexWithItsPrefixOnly) {
  EXPECT_EQ(line_of("0x0000000000000080").bits("x"), 0x80U);
  EXPECT_EQ(line_of("0xFFFFFFFFFFFFFFFF").bits("x"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(line_of("80").bits("x"));
  EXPECT_FALSE(line_of("0x").bits("x"));
  EXPECT_FALSE(line_of("0x10000000000000000").bits("x")) << "65 bits";
  EXPECT_FALSE(line_of("[N/A]").bits("x"));
}

TEST(SmiFlag, IsEnabledOrDisabledOrAbsent) {
  EXPECT_EQ(line_of("Enabled").flag("x"), true);
  EXPECT_EQ(line_of("Disabled").flag("x"), false);
  EXPECT_FALSE(line_of("[N/A]").flag("x"));
  EXPECT_FALSE(line_of("Yes").flag("x"));
}

TEST(SmiText, IsFitForOneLine) {
  EXPECT_EQ(line_of("a\x1b[31mb").text("x").value_or("").find('\x1b'), std::string::npos);
}

TEST(SmiHelp, NamesFieldsAndTheirAliasesOnly) {
  const auto known = parse_smi_help(
      "List of valid properties to query for the switch \"--query-gpu=\":\n\n"
      "\"timestamp\"\nThe timestamp of when the query was made.\n\n"
      "\"pci.bus_id\" or \"gpu_bus_id\"\nPCI bus id as \"domain:bus:device.function\", in hex.\n\n"
      "\"torn\n\"with space\"\n\"a,b\"\n");
  EXPECT_EQ(known, (std::set<std::string, std::less<>>{"timestamp", "pci.bus_id", "gpu_bus_id"}));
}

TEST(SmiQueryFor, TakesTheNameThatThisVersionKnows) {
  const SmiQuery query = make_smi_query(
      smi_list_fields(), {"gpu_uuid", "power.draw.average", "clocks_throttle_reasons.active",
                          "gpu.power.current_limit"});
  EXPECT_EQ(query.argument(),
            "--query-gpu=gpu_uuid,power.draw.average,gpu.power.current_limit,"
            "clocks_throttle_reasons.active");
  EXPECT_EQ(query.keys, (std::vector<std::string>{"uuid", "watts", "limit_enforced", "reasons"}));
}

TEST(SmiCsv, ALineThatIsNoRowIsAProblemAndHidesNoOther) {
  const SmiTable table = parse_smi_csv(
      "GPU-1, 5\r\n"
      "Unable to determine the device handle for GPU 0000:06:00.0: GPU is lost.\n"
      "\n"
      "GPU-2\n"
      "GPU-3, 6, python3, -c, a\n"
      "0, 7\n",
      {"uuid", "name"});
  ASSERT_EQ(table.lines.size(), 2U);
  EXPECT_EQ(table.lines[0].text("name"), "5");
  EXPECT_EQ(table.lines[1].text("name"), "6, python3, -c, a") << "the last column keeps its commas";
  EXPECT_EQ(table.problems.size(), 3U) << "no row, a row that is too short, one without a UUID";
}

struct ErrorCase {
  const char *name, *cell, *error;
};
class SmiBoardError : public testing::TestWithParam<ErrorCase> {};

TEST_P(SmiBoardError, IsWhatAFieldSays) {
  const SmiTable table =
      parse_smi_csv("GPU-1, 0, " + std::string(GetParam().cell), {"uuid", "memory_used", "watts"});
  ASSERT_EQ(table.lines.size(), 1U);
  EXPECT_EQ(smi_board(table.lines[0]).error, GetParam().error);
  // What a board that is gone still seems to hold is not of now.
  EXPECT_EQ(smi_reading(table.lines[0]).memory_mib.has_value(), *GetParam().error == '\0');
}

INSTANTIATE_TEST_SUITE_P(Table, SmiBoardError,
                         testing::Values(ErrorCase{"Lost", "[GPU is lost]", "GPU is lost"},
                                         ErrorCase{"Reset", "[GPU requires reset]",
                                                   "GPU requires reset"},
                                         ErrorCase{"NotSupported", "[Not Supported]", ""}),
                         [](const auto& p) { return p.param.name; });

struct PeriodCase {
  const char *name, *capability;
  std::optional<double> period_s;
};
class SmiReadingPeriod : public testing::TestWithParam<PeriodCase> {};

// NVIDIA: power.draw averages over a second on Ampere and newer, except GA100 (8.0).
TEST_P(SmiReadingPeriod, IsASecondFromAmpereOnExceptGa100) {
  const SmiTable table =
      parse_smi_csv("GPU-1, " + std::string(GetParam().capability), {"uuid", "compute_capability"});
  EXPECT_EQ(smi_board(table.lines.at(0)).reading_period_s, GetParam().period_s);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SmiReadingPeriod,
    testing::Values(PeriodCase{"Turing", "7.5", {}}, PeriodCase{"Ga100", "8.0", {}},
                    PeriodCase{"Ga102", "8.6", 1.0}, PeriodCase{"Hopper", "9.0", 1.0},
                    PeriodCase{"Blackwell", "12.0", 1.0}, PeriodCase{"NotTold", "[N/A]", {}}),
    [](const auto& p) { return p.param.name; });

TEST(SmiInstances, BelongToTheBoardAboveThem) {
  const auto found = parse_smi_instances(
      "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-7fda)\n"
      "  MIG 1g.10gb     Device  0: (UUID: MIG-feb8)\n"
      "  MIG 3g.40gb     Device  1: (UUID: MIG-a257)\n"
      "GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-0001)\n"
      "GPU 2: NVIDIA A100-SXM4-80GB (UUID: GPU-0002)\n"
      "  MIG 7g.80gb     Device  0: (UUID: MIG-GPU-0002/0/0)\n");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].first, "GPU-7fda");
  EXPECT_EQ(found[0].second.id, "MIG-feb8");
  EXPECT_EQ(found[0].second.name, "MIG 1g.10gb");
  EXPECT_FALSE(found[0].second.memory_used_mib);
  EXPECT_EQ(found[1].first, "GPU-7fda");
  EXPECT_EQ(found[2].first, "GPU-0002");
  EXPECT_EQ(found[2].second.id, "MIG-GPU-0002/0/0");
  EXPECT_TRUE(parse_smi_instances("  MIG 1g.10gb Device 0: (UUID: MIG-1)\n").empty()) << "no board";
  EXPECT_TRUE(parse_smi_instances("GPU 0: x (UUID: GPU-1\n(UUID: )\n)").empty());
}

}  // namespace
}  // namespace deem::board

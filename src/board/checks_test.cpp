#include "board/checks.h"

#include <gtest/gtest.h>

namespace deem::board {
namespace {

using Verdict = Check::Verdict;

BoardInfo board_with(std::optional<double> used_mib, const std::string& source = "nvml",
                     std::optional<double> reserved_mib = 600) {
  BoardInfo out;
  out.id = "GPU-1";
  out.source = source;
  out.memory_used_mib = used_mib;
  out.memory_reserved_mib = reserved_mib;
  return out;
}

BoardProcess process_with(std::optional<double> used_mib, const std::string& board = "GPU-1") {
  BoardProcess out;
  out.board = board;
  out.used_mib = used_mib;
  return out;
}

struct MemoryCase {
  const char* name;
  BoardInfo board;
  std::vector<BoardProcess> processes;
  Verdict verdict;
  const char* says;  // a part of it
};
class CheckMemory : public testing::TestWithParam<MemoryCase> {};

TEST_P(CheckMemory, ComparesWhatIsInUseWithWhatProcessesHold) {
  const Check check = check_memory(GetParam().board, GetParam().processes);
  EXPECT_EQ(check.verdict, GetParam().verdict) << check.says;
  EXPECT_EQ(check.board, "GPU-1");
  EXPECT_NE(check.says.find(GetParam().says), std::string::npos) << check.says;
}

// The figures of the first two are of boards that served models.
INSTANTIATE_TEST_SUITE_P(
    Table, CheckMemory,
    testing::Values(
        MemoryCase{"FourResidents",
                   board_with(66'444),
                   {process_with(45'620), process_with(18'846), process_with(996),
                    process_with(954), process_with(5'000, "GPU-2")},
                   Verdict::Ok,
                   "66444 MiB in use, 28 of them"},
        MemoryCase{"TwoResidents",
                   board_with(18'087),
                   {process_with(17'464), process_with(608)},
                   Verdict::Ok,
                   "18087 MiB in use, 15 of them"},
        MemoryCase{"AtTheLimit", board_with(256), {}, Verdict::Ok, "256 of them"},
        MemoryCase{
            "OverTheLimit", board_with(257), {}, Verdict::Finding, "another process namespace"},
        MemoryCase{"Amd", board_with(900, "amdgpu", {}), {}, Verdict::Finding, "900 of them"},
        MemoryCase{"NvmlOfOldIncludesReserved",
                   board_with(900, "nvml", {}),
                   {},
                   Verdict::NotMeasured,
                   "reserves included"},
        MemoryCase{"SmiOfOldIncludesReserved",
                   board_with(900, "nvidia-smi", {}),
                   {},
                   Verdict::NotMeasured,
                   "reserves included"},
        MemoryCase{"Smi", board_with(900, "nvidia-smi", 600), {}, Verdict::Finding, "900 of them"},
        MemoryCase{"UseNotTold", board_with({}), {}, Verdict::NotMeasured, "in use is not told"},
        MemoryCase{"AProcessNotTold",
                   board_with(900),
                   {process_with(100), process_with({})},
                   Verdict::NotMeasured,
                   "what its processes hold is not told"}),
    [](const auto& p) { return p.param.name; });

struct PowerCase {
  const char* name;
  std::optional<std::uint64_t> reasons;
  Verdict verdict;
  const char* says;
};
class CheckPower : public testing::TestWithParam<PowerCase> {};

TEST_P(CheckPower, IsAFindingWhereHardwareHoldsTheClocks) {
  BoardInfo board;
  board.clock_reasons = GetParam().reasons;
  const Check check = check_power(board);
  EXPECT_EQ(check.verdict, GetParam().verdict);
  EXPECT_EQ(check.says, GetParam().says);
}

TEST(CheckLimit, HoldsWhatWasSetAgainstWhatIsInForce) {
  BoardInfo board;
  EXPECT_FALSE(check_limit(board));
  board.limit_requested_w = 250;
  EXPECT_FALSE(check_limit(board)) << "not told is no finding";
  board.limit_enforced_w = 249.5;
  EXPECT_EQ(check_limit(board)->verdict, Verdict::Ok);
  board.limit_enforced_w = 200;
  EXPECT_EQ(check_limit(board)->verdict, Verdict::Finding);
  EXPECT_EQ(check_limit(board)->says,
            "250 W were set, 200 W are in force: another limiter holds it lower");
}

INSTANTIATE_TEST_SUITE_P(
    Table, CheckPower,
    testing::Values(
        PowerCase{"Idle", 0x1, Verdict::Ok, "no slowdown by hardware (reasons 0x1)"},
        PowerCase{"SoftwareCapAndHeat", 0x24, Verdict::Ok,
                  "no slowdown by hardware (reasons 0x24)"},
        PowerCase{"Slowdown", 0x8, Verdict::Finding, "slowed down by hardware (reasons 0x8)"},
        PowerCase{"Heat", 0x48, Verdict::Finding,
                  "too hot; slowed down by hardware (reasons 0x48)"},
        PowerCase{"Brake", 0x80, Verdict::Finding,
                  "power brake: an alarm of the power supply or its feed (reasons 0x80)"},
        PowerCase{
            "NotTold", {}, Verdict::NotMeasured, "why its clocks are what they are is not told"}),
    [](const auto& p) { return p.param.name; });

struct CountCase {
  const char* name;
  std::size_t by_driver, on_bus;
  Verdict verdict;
  const char* says;
};
class CheckCount : public testing::TestWithParam<CountCase> {};

TEST_P(CheckCount, BelievesNeitherCountAlone) {
  const Check check = check_count("NVIDIA", GetParam().by_driver, GetParam().on_bus);
  EXPECT_EQ(check.verdict, GetParam().verdict);
  EXPECT_NE(check.says.find(GetParam().says), std::string::npos) << check.says;
}

INSTANTIATE_TEST_SUITE_P(
    Table, CheckCount,
    testing::Values(CountCase{"Same", 4, 4, Verdict::Ok,
                              "NVIDIA: the driver tells 4, the bus has 4"},
                    CountCase{"Fewer", 2, 4, Verdict::Finding, "some have failed"},
                    CountCase{"More", 4, 2, Verdict::Finding, "does not show all"}),
    [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace deem::board

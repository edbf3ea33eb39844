#include "board/pin.h"

#include <gtest/gtest.h>

namespace deem::board {
namespace {

using State = PinVerdict::State;

/// Two boards as the reference bench's report has them: 14 MiB before, the model on both after.
PinEvidence loaded_on_two() {
  return {.named = {"GPU-4", "GPU-7"},
          .before = {{"GPU-4", 14}, {"GPU-7", 14}, {"GPU-9", 14}},
          .after = {{"GPU-4", 22310}, {"GPU-7", 21904}, {"GPU-9", 14}}};
}

TEST(Pin, HoldsWhenEveryNamedBoardGrewAndNoOther) {
  const PinVerdict verdict = check_pin(loaded_on_two());
  EXPECT_EQ(verdict.state, State::Ok) << describe(verdict);
  EXPECT_EQ(verdict.boards.at(0).growth_mib, 22296);
  EXPECT_EQ(verdict.boards.at(1).growth_mib, 21890);
  EXPECT_EQ(describe(verdict),
            "ok (growth: GPU-4 +22296 MiB, GPU-7 +21890 MiB; no other board grew)");
}

TEST(Pin, OneNamedBoardThatDidNotGrowIsAFinding) {
  PinEvidence evidence = loaded_on_two();
  evidence.after[1].used_mib = 14;
  const PinVerdict verdict = check_pin(evidence);
  EXPECT_EQ(verdict.state, State::Finding);
  EXPECT_EQ(describe(verdict), "finding: board GPU-7 was named and holds 0 MiB of the model");
}

TEST(Pin, AnotherBoardThatGrewIsAFinding) {
  PinEvidence evidence = loaded_on_two();
  evidence.after[2].used_mib = 14 + 200;  // the floor itself
  const PinVerdict verdict = check_pin(evidence);
  EXPECT_EQ(verdict.state, State::Finding);
  EXPECT_EQ(describe(verdict), "finding: board GPU-9 was not named and grew by 200 MiB");
  evidence.after[2].used_mib = 14 + 199;
  EXPECT_EQ(check_pin(evidence).state, State::Ok);
}

TEST(Pin, ABoardThatCanNotBeReadIsNeverOk) {
  for (const std::size_t silent : {0U, 2U}) {
    PinEvidence evidence = loaded_on_two();
    evidence.after[silent].used_mib.reset();
    EXPECT_EQ(check_pin(evidence).state, State::NotMeasured) << silent;
  }
  PinEvidence evidence = loaded_on_two();
  evidence.named.push_back("GPU-unknown");
  EXPECT_EQ(check_pin(evidence).state, State::NotMeasured);
}

/// A server that was there before us: its engine is a child of what listens.
PinEvidence served() {
  return {.named = {"GPU-4"},
          .after = {{"GPU-4", 22310}, {"GPU-9", 900}},
          .owned = std::vector<Owned>{{"GPU-4", 21, 22000}, {"GPU-9", 77, 880}},
          .pids = {20, 21}};
}

TEST(Pin, OfARunningServerIsByItsOwnProcesses) {
  const PinVerdict verdict = check_pin(served());
  EXPECT_EQ(verdict.state, State::Ok) << describe(verdict);
  EXPECT_EQ(describe(verdict), "ok (processes: GPU-4 22000 MiB; no other board holds any of it)");
  EXPECT_EQ(verdict.boards.at(1).others_mib, 880);
  EXPECT_TRUE(verdict.notes.empty()) << "a neighbour on a board that was not named";
}

TEST(Pin, OfAServerOnTheWrongBoardIsAFinding) {
  PinEvidence evidence = served();
  evidence.named = {"GPU-9"};
  const PinVerdict verdict = check_pin(evidence);
  EXPECT_EQ(verdict.state, State::Finding);
  EXPECT_EQ(verdict.findings,
            (std::vector<std::string>{"board GPU-4 was not named and holds 22000 MiB",
                                      "board GPU-9 was named and holds 0 MiB of the model"}));
  EXPECT_EQ(verdict.notes,
            std::vector<std::string>{"board GPU-9: other processes hold 880 MiB beside the seat"});
}

TEST(Pin, WithoutProcessesOrTheirMemoryNothingIsProved) {
  PinEvidence evidence = served();
  evidence.owned.reset();
  EXPECT_EQ(check_pin(evidence).state, State::NotMeasured);
  evidence = served();
  evidence.pids.clear();
  evidence.no_pids = "nothing seen listening on port 8000";
  EXPECT_EQ(describe(check_pin(evidence)),
            "not measured (the seat's processes are not known: nothing seen listening on port "
            "8000)");
  evidence = served();
  evidence.owned->front().mib.reset();
  EXPECT_EQ(check_pin(evidence).state, State::NotMeasured);
}

TEST(Pin, AServersClaimThatIsNotSeenIsAFindingWithBothNumbers) {
  PinEvidence evidence = served();
  evidence.owned = std::vector<Owned>{};
  evidence.claim = {.total_mib = 4'000, .vram_mib = 4'000, .text = "/api/ps: size_vram"};
  const PinVerdict verdict = check_pin(evidence);
  EXPECT_EQ(verdict.state, State::Finding);
  ASSERT_EQ(verdict.findings.size(), 2U);
  EXPECT_EQ(verdict.findings[1],
            "the server claims 4000 MiB on boards, 0 MiB are seen: it may not be on any board");
}

TEST(Pin, AClaimWithinItsSlackIsNone) {
  PinEvidence evidence = served();
  evidence.claim = {.vram_mib = 18'500};  // 3500 MiB and 16 % off
  EXPECT_EQ(check_pin(evidence).state, State::Ok);
  evidence.claim = {.vram_mib = 17'000};  // 5000 MiB and 23 % off
  EXPECT_EQ(check_pin(evidence).state, State::Finding);
  evidence.owned->front().mib = 900;
  evidence.claim = {.vram_mib = 450};  // 450 MiB off: under 512
  EXPECT_EQ(check_pin(evidence).state, State::Ok);
}

TEST(Pin, WithoutANamedBoardThereIsNothingToProve) {
  PinEvidence evidence = loaded_on_two();
  evidence.named.clear();
  EXPECT_EQ(describe(check_pin(evidence)), "not measured (no board was named)");
}

}  // namespace
}  // namespace deem::board

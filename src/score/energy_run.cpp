#include <algorithm>
#include <map>

#include "score/energy.h"

namespace deem::score {
namespace {

void make_unknown(EnergyFigures& sum, std::string code, std::string text) {
  sum.gross_j = sum.net_j = sum.counter_j = sum.counter_ratio = std::nullopt;
  sum.mean_w = sum.peak_w = sum.idle_before_w = sum.idle_after_w = std::nullopt;
  sum.gross_per_decision_95 = sum.net_per_decision_95 = std::nullopt;
  sum.reasons.push_back({std::move(code), std::move(text), false});
}

void add_unmeasured(RunEnergy& energy, const ArmStatus& arm) {
  energy.unmeasured.push_back(arm);
  if (energy.blocks.empty()) return;
  make_unknown(energy.all, "arm_missing", "arm " + arm.arm + ": joules " + arm.status);
}

struct Coverage {
  std::int64_t answered = 0, in_blocks = 0;
  bool any_block = false;
};

bool is_unmeasured(const RunEnergy& energy, const std::string& arm) {
  return std::ranges::find(energy.unmeasured, arm, &ArmStatus::arm) != energy.unmeasured.end();
}

void expect_covered(RunEnergy& energy, const std::string& who, const Coverage& arm) {
  if (arm.in_blocks >= arm.answered) return;
  make_unknown(energy.all, "blocks_missing",
               who + ": joules cover " + std::to_string(arm.in_blocks) + " of its " +
                   std::to_string(arm.answered) + " answered decisions");
}

void hold_against_rows(RunEnergy& energy, std::span<const record::Row> rows) {
  std::vector<std::string> order;
  std::map<std::string, Coverage> coverage;
  for (const record::Row& row : rows) {
    if (row.status != record::Row::Status::Asked) continue;
    const auto [place, fresh] = coverage.try_emplace(row.arm);
    if (fresh) order.push_back(row.arm);
    ++place->second.answered;
  }
  for (const EnergyFigures& task : energy.tasks) {
    Coverage& arm = coverage[task.arm];
    arm.any_block = true;
    arm.in_blocks += task.decisions;
  }
  Coverage& together = coverage[""];  // arms that took turns
  for (const std::string& name : order) {
    const Coverage& arm = coverage[name];
    if (is_unmeasured(energy, name)) continue;
    if (arm.any_block) {
      expect_covered(energy, "arm " + name, arm);
    } else if (together.any_block) {
      together.answered += arm.answered;
      energy.unmeasured.push_back(
          {name, "not measured (arms took turns in one block; --order block tells them apart)"});
    } else {
      add_unmeasured(energy, {name, "not measured (the power file has no block of it)"});
    }
  }
  expect_covered(energy, "arms that took turns", together);
}

/// The joules of boards that the model was not on are another's.
void refute(RunEnergy& energy, const ArmStatus& arm) {
  const EnergyReason reason{"pin_failed", "arm " + arm.arm + ": " + arm.pin_finding};
  for (auto* list : {&energy.blocks, &energy.tasks, &energy.arms}) {
    for (EnergyFigures& figures : *list) {
      if (figures.arm == arm.arm || figures.arm.empty()) figures.reasons.push_back(reason);
    }
  }
  if (energy.all.blocks > 0) energy.all.reasons.push_back(reason);
}

}  // namespace

void hold_against_run(RunEnergy& energy, std::span<const ArmStatus> arms,
                      std::span<const record::Row> rows) {
  for (const ArmStatus& arm : arms) {
    if (arm.status != "ok") {
      add_unmeasured(energy, arm);
    } else if (!arm.pin_finding.empty()) {
      refute(energy, arm);
    }
  }
  if (!energy.blocks.empty()) hold_against_rows(energy, rows);
}

}  // namespace deem::score

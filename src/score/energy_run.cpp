#include <algorithm>
#include <map>
#include <utility>

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

/// Rows of plain blocks: what is asked again at once is asked among them.
bool is_plain(const record::Row& row) { return row.probe.empty() || row.probe == "noise:again"; }

struct Coverage {
  std::int64_t answered = 0, in_blocks = 0;
  bool any_block = false;
};

bool is_unmeasured(const RunEnergy& energy, const std::string& arm) {
  return std::ranges::find(energy.unmeasured, arm, &ArmStatus::arm) != energy.unmeasured.end();
}

std::string covers(const std::string& who, const Coverage& one) {
  return who + ": joules cover " + std::to_string(one.in_blocks) + " of its " +
         std::to_string(one.answered) + " answered decisions";
}

/// What a count that does not fit means for figures of their own.
void judge_coverage(EnergyFigures& figures, const std::string& who, const Coverage& one) {
  constexpr double kTolerated = 0.05;
  if (one.in_blocks > one.answered) {
    figures.reasons.push_back({"blocks_excess", covers(who, one)});
  } else if (one.in_blocks < one.answered) {
    const double missing = static_cast<double>(one.answered - one.in_blocks);
    const bool much = missing > kTolerated * static_cast<double>(one.answered);
    (much ? figures.reasons : figures.notes).push_back({"blocks_missing", covers(who, one)});
  }
}

void expect_covered(RunEnergy& energy, const std::string& who, const Coverage& one) {
  if (one.in_blocks < one.answered) {
    make_unknown(energy.all, "blocks_missing", covers(who, one));
  } else if (one.in_blocks > one.answered) {
    energy.all.reasons.push_back({"blocks_excess", covers(who, one)});
  }
}

/// Plain figures of arms and tasks against the rows they are of.
void judge_figures(RunEnergy& energy, std::span<const record::Row> rows) {
  std::map<std::pair<std::string, std::string>, Coverage> tasks;  // by arm and task
  std::map<std::string, Coverage> arms;
  for (const record::Row& row : rows) {
    if (row.status != record::Row::Status::Asked || !is_plain(row)) continue;
    ++tasks[{row.arm, row.task}].answered;
    ++arms[row.arm].answered;
  }
  for (EnergyFigures& task : energy.tasks) {
    if (task.arm.empty() || task.task.empty() || !task.probe.empty()) continue;
    Coverage one = tasks[{task.arm, task.task}];
    one.in_blocks = task.decisions;
    judge_coverage(task, "arm " + task.arm + " on " + task.task, one);
  }
  for (EnergyFigures& arm : energy.arms) {
    if (arm.arm.empty()) continue;
    Coverage one = arms[arm.arm];
    one.in_blocks = arm.decisions;
    judge_coverage(arm, "arm " + arm.arm, one);
  }
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
  if (together.any_block) expect_covered(energy, "arms that took turns", together);
  judge_figures(energy, rows);
}

/// A reason for every figure that an arm has a part in.
void refute(RunEnergy& energy, const std::string& arm, const EnergyReason& reason) {
  for (auto* list : {&energy.blocks, &energy.tasks, &energy.arms}) {
    for (EnergyFigures& figures : *list) {
      if (figures.arm == arm || figures.arm.empty()) figures.reasons.push_back(reason);
    }
  }
  if (energy.all.blocks > 0) energy.all.reasons.push_back(reason);
}

/// The first board that was read for an arm and is none of its own, or is its own and was not read.
std::string wrong_board(const RunEnergy& energy, const ArmStatus& arm) {
  if (arm.boards.empty()) return {};
  for (const EnergyFigures& block : energy.blocks) {
    if (block.arm != arm.arm) continue;
    for (const BoardEnergy& board : block.boards) {
      if (std::ranges::find(arm.boards, board.board) == arm.boards.end()) return board.board;
    }
    for (const std::string& id : arm.boards) {
      if (std::ranges::find(block.boards, id, &BoardEnergy::board) == block.boards.end()) return id;
    }
  }
  return {};
}

}  // namespace

void hold_against_run(RunEnergy& energy, std::span<const ArmStatus> arms,
                      std::span<const record::Row> rows) {
  for (const ArmStatus& arm : arms) {
    if (arm.status != "ok") {
      add_unmeasured(energy, arm);
      continue;
    }
    // The joules of boards that the model was not on are another's.
    if (!arm.pin_finding.empty()) {
      refute(energy, arm.arm, {"pin_failed", "arm " + arm.arm + ": " + arm.pin_finding});
    }
    if (const std::string board = wrong_board(energy, arm); !board.empty()) {
      refute(energy, arm.arm,
             {"boards_changed",
              "arm " + arm.arm + ": " + board + " was not read all the time, or is not the run's"});
    }
  }
  if (!energy.blocks.empty()) hold_against_rows(energy, rows);
}

}  // namespace deem::score

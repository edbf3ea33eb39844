#include "score/energy_compare.h"

#include <algorithm>
#include <cmath>

#include "score/statistics.h"

namespace deem::score {
namespace {

constexpr double kSameShare = 0.05;  // of an arm's decisions in a task, by which two may differ

/// Net joules and decisions of one block.
struct NetBlock {
  double joules = 0, decisions = 0;
};

/// Plain blocks of an arm, of one task or of all; none where the joules of one are unknown.
std::vector<NetBlock> net_blocks(const JoulesSide& side, std::string_view task) {
  std::vector<NetBlock> out;
  for (const EnergyFigures& block : side.energy.blocks) {
    if (block.arm != side.arm || !block.probe.empty()) continue;
    if (!task.empty() && block.task != task) continue;
    if (!block.net_j) return {};
    out.push_back({*block.net_j, static_cast<double>(block.decisions)});
  }
  return out;
}

/// Joules a decision of as many blocks as there are, drawn with replacement.
std::optional<double> draw_mean(const std::vector<NetBlock>& blocks, Random& random) {
  NetBlock sum;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const NetBlock& one = blocks[random.below(blocks.size())];
    sum.joules += one.joules;
    sum.decisions += one.decisions;
  }
  return sum.decisions > 0 ? std::optional(sum.joules / sum.decisions) : std::nullopt;
}

void add_intervals(const JoulesSide& a, const JoulesSide& b, const EnergyOptions& options,
                   JoulesPair& out) {
  const std::vector<NetBlock> of_a = net_blocks(a, out.task), of_b = net_blocks(b, out.task);
  if (std::min(of_a.size(), of_b.size()) < options.least_blocks) return;
  Random random(options.seed);
  std::vector<double> differences, ratios;
  bool any_ratio = true;
  for (std::size_t draw = 0; draw < kBootstrapDraws; ++draw) {
    const auto x = draw_mean(of_a, random), y = draw_mean(of_b, random);
    if (!x || !y) continue;
    differences.push_back(*y - *x);
    any_ratio = any_ratio && *x > 0;
    if (any_ratio) ratios.push_back(*y / *x);
  }
  const auto interval = [](const std::vector<double>& values) {
    return Interval{*percentile(values, 250), *percentile(values, 9'750)};
  };
  if (differences.empty()) return;
  out.difference_95 = interval(differences);
  if (any_ratio) out.ratio_95 = interval(ratios);
}

std::string why_invalid(std::string_view side, const EnergyFigures* figures) {
  const std::string of(side);
  if (figures == nullptr) return "joules of " + of + " are not measured";
  for (const EnergyReason& reason : figures->reasons) {
    return "net joules of " + of + " are not valid: " + reason.text;
  }
  return "net joules of " + of + " are not measured";
}

JoulesPair pair_of(const JoulesSide& a, const JoulesSide& b, std::string_view task,
                   const EnergyOptions& options) {
  const auto figures = [&](const JoulesSide& side) {
    return task.empty() ? side.energy.arm(side.arm) : side.energy.task(side.arm, task);
  };
  const EnergyFigures *x = figures(a), *y = figures(b);
  JoulesPair out{.task = std::string(task)};
  if (x != nullptr) {
    out.a = x->net_per_decision();
    out.a_valid = x->net_valid() && out.a;
    out.decisions_a = x->decisions;
  }
  if (y != nullptr) {
    out.b = y->net_per_decision();
    out.b_valid = y->net_valid() && out.b;
    out.decisions_b = y->decisions;
  }
  if (!out.b_valid) out.b_why = why_invalid("B", y);
  if (!out.a_valid) {
    out.why = why_invalid("A", x);
  } else if (!out.b_valid) {
    out.why = out.b_why;
  } else if (&a.energy == &b.energy && a.arm == b.arm) {
    out.why = "both are of one arm, whose joules are of all its readings together";
  }
  if (!out.why.empty()) return out;
  out.difference = *out.b - *out.a;
  if (*out.a > 0) out.ratio = *out.b / *out.a;
  add_intervals(a, b, options, out);
  return out;
}

/// The share of an arm's plain decisions that lies in a task.
double share_in(const JoulesSide& side, const std::string& task) {
  const EnergyFigures *of_task = side.energy.task(side.arm, task), *all = side.energy.arm(side.arm);
  if (of_task == nullptr || all == nullptr || all->decisions == 0) return 0;
  return static_cast<double>(of_task->decisions) / static_cast<double>(all->decisions);
}

bool same_mix(const JoulesSide& a, const JoulesSide& b) {
  for (const JoulesSide* side : {&a, &b}) {
    for (const EnergyFigures& task : side->energy.tasks) {
      if (task.arm != side->arm || !task.probe.empty()) continue;
      if (std::abs(share_in(a, task.task) - share_in(b, task.task)) > kSameShare) return false;
    }
  }
  return true;
}

}  // namespace

ComparedJoules compare_joules(const JoulesSide& a, const JoulesSide& b,
                              const EnergyOptions& options) {
  ComparedJoules out;
  for (const EnergyFigures& task : a.energy.tasks) {
    if (task.arm != a.arm || !task.probe.empty()) continue;
    if (b.energy.task(b.arm, task.task) == nullptr) continue;
    out.tasks.push_back(pair_of(a, b, task.task, options));
  }
  out.all = pair_of(a, b, "", options);
  if (out.all.why.empty() && !same_mix(a, b)) {
    out.all.why = "A and B answered the tasks in other shares: see them task by task";
    out.all.difference = out.all.ratio = std::nullopt;
    out.all.difference_95 = out.all.ratio_95 = std::nullopt;
  }
  return out;
}

}  // namespace deem::score

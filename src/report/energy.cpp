#include "report/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "report/energy_parts.h"
#include "report/format.h"

namespace deem::report {
namespace {

using score::EnergyFigures;

/// A line of the tables: whose joules, and of what.
struct Line {
  std::string arm = {}, what = {};
  const EnergyFigures* figures = nullptr;
};

std::string what_of(const EnergyFigures& task) {
  const std::string what = task.task.empty() ? "tasks in turn" : task.task;
  return task.probe.empty() ? what : what + ", " + task.probe;
}

void add_arm(const score::RunEnergy& energy, const std::string& arm, std::vector<Line>& out) {
  std::size_t plain = 0;
  for (const bool probes : {false, true}) {
    for (const EnergyFigures& task : energy.tasks) {
      if (task.arm != arm || task.probe.empty() == probes) continue;
      plain += probes ? 0U : 1U;
      out.push_back({arm.empty() ? "arms in turn" : arm, what_of(task), &task});
    }
    const EnergyFigures* all = energy.arm(arm);
    if (!probes && plain > 1 && all != nullptr) out.push_back({arm, "all tasks", all});
  }
}

/// Every arm's tasks and probes, then the run.
std::vector<Line> lines_of(const RunJoules& run, bool several) {
  std::vector<Line> out;
  std::set<std::string> seen;
  for (const EnergyFigures& task : run.energy.tasks) {
    if (seen.insert(task.arm).second) add_arm(run.energy, task.arm, out);
  }
  const bool is_sum = out.size() != 1 || !run.energy.all.gross_j;
  if (!out.empty() && is_sum) {
    out.push_back({several ? run.run : "the whole run", "all blocks", &run.energy.all});
  }
  return out;
}

std::vector<Line> all_lines(const Heading& heading) {
  std::vector<Line> out;
  for (const RunJoules& run : heading.energy) {
    std::ranges::move(lines_of(run, heading.energy.size() > 1), std::back_inserter(out));
  }
  return out;
}

std::string watts(std::optional<double> value) { return number(value, 1); }

std::string net_with_interval(const EnergyFigures& f) {
  const auto& by = f.net_per_decision_95;
  if (!by) return net_cell(&f);
  return fmt::format("{} [{}, {}]", net_cell(&f), joules(by->low), joules(by->high));
}

ProbeTable joules_table(const std::vector<Line>& lines) {
  ProbeTable out{
      .title = "Energy",
      .says =
          "Joules of the marked blocks, summed over boards; net is gross less the "
          "idle draw. A decision's and a prompt token's share are net unless said; ? marks "
          "what is not valid.",
      .header = {"arm", "task", "n", "gross J", "net J", "J/decision [95 %]", "gross J/d",
                 "J/token", "valid"},
      .names = 2};
  for (const auto& [arm, what, f] : lines) {
    out.rows.push_back({arm, what, fmt::format("{}", f->decisions), joules(f->gross_j),
                        joules(f->net_j), net_with_interval(*f), joules(f->gross_per_decision()),
                        joules(f->net_per_prompt_token()), validity(*f)});
  }
  return out;
}

ProbeTable watts_table(const std::vector<Line>& lines) {
  ProbeTable out{.title = "Power",
                 .says =
                     "Of all boards together. The energy counter stands beside the integral "
                     "of the readings; idle was read before and after.",
                 .header = {"arm", "task", "blocks", "seconds", "counter J", "÷ integral", "mean W",
                            "peak W", "idle before", "after"},
                 .names = 2};
  for (const auto& [arm, what, f] : lines) {
    out.rows.push_back({arm, what, fmt::format("{}", f->blocks), number(f->seconds, 1),
                        joules(f->counter_j), number(f->counter_ratio, 3), watts(f->mean_w),
                        watts(f->peak_w), watts(f->idle_before_w), watts(f->idle_after_w)});
  }
  return out;
}

ProbeTable price_table(const std::vector<Line>& lines, const EnergyPrice& price) {
  ProbeTable out{.title = "Cost of 1,000 decisions",
                 .says = "By net and by gross joules; ? marks what is not valid.",
                 .header = {"arm", "task"},
                 .names = 2};
  const auto add = [&](std::optional<double> per_kwh, const char* head) {
    if (!per_kwh) return;
    out.header.push_back(fmt::format(fmt::runtime(head), *per_kwh));
    out.header.emplace_back("gross");
  };
  add(price.per_kwh, "at {}/kWh: net");
  add(price.grams_per_kwh, "g CO2 at {} g/kWh: net");
  const auto cell = [](std::optional<double> joules, double per_kwh, bool valid) {
    if (!joules) return std::string("–");
    return fmt::format("{:.3g}{}", score::per_thousand_decisions(*joules, per_kwh),
                       valid ? "" : "?");
  };
  for (const auto& [arm, what, f] : lines) {
    std::vector<std::string> cells = {arm, what};
    for (const std::optional<double>& per_kwh : {price.per_kwh, price.grams_per_kwh}) {
      if (!per_kwh) continue;
      cells.push_back(cell(f->net_per_decision(), *per_kwh, f->net_valid()));
      cells.push_back(cell(f->gross_per_decision(), *per_kwh, f->gross_valid()));
    }
    out.rows.push_back(std::move(cells));
  }
  return out;
}

std::string who(const Line& line) {
  return line.what == "all blocks" ? line.arm : line.arm + " on " + line.what;
}

/// A sum does not repeat what its parts say already.
void add_reasons(const std::vector<Line>& lines, std::vector<std::string>& out) {
  std::set<std::string> of_arm, of_run = {"arm_missing"};  // said of the arm itself
  std::string arm;
  for (const Line& line : lines) {
    if (line.arm != arm) of_arm.clear();
    arm = line.arm;
    const bool sum = line.what == "all tasks", run = line.what == "all blocks";
    const auto say = [&](const score::EnergyReason& reason, const std::string& before) {
      if (sum && of_arm.contains(reason.code)) return;
      if (run && of_run.contains(reason.code)) return;
      of_arm.insert(reason.code);
      of_run.insert(reason.code);
      out.push_back(who(line) + ": " + before + reason.text);
    };
    for (const auto& reason : line.figures->reasons) {
      say(reason, !line.figures->gross_j ? "joules are not measured: "
                  : reason.net_only      ? "net joules are not valid: "
                                         : "joules are not valid: ");
    }
    for (const auto& note : line.figures->notes) say(note, "");
  }
}

bool reads_several(const score::Scores& scores, const std::string& arm) {
  std::set<std::string> readings;
  for (const score::Column& column : scores.columns) {
    if (column.arm == arm && column.reading != "chosen") readings.insert(column.reading);
  }
  return readings.size() > 1;
}

void add_run(const score::Scores& scores, const RunJoules& run, bool several,
             std::vector<std::string>& out) {
  const score::RunEnergy& energy = run.energy;
  const std::string before = several ? run.run + ": " : "";
  if (!energy.measured()) {
    out.push_back(before + (energy.tasks.empty() ? "" : "the whole run: ") + "joules " +
                  energy.status);
  }
  if (energy.tasks.empty()) return;
  for (const score::ArmStatus& arm : energy.unmeasured) {
    out.push_back("arm " + arm.arm + ": joules " + arm.status);
  }
  add_reasons(lines_of(run, several), out);
  for (const EnergyFigures& arm : energy.arms) {
    if (!reads_several(scores, arm.arm)) continue;
    out.push_back(arm.arm + ": joules are of all its readings together");
  }
  for (const EnergyFigures& load : energy.loads) {
    out.push_back(fmt::format("loading {}: {} J gross in {} s", load.arm, joules(load.gross_j),
                              number(load.seconds, 1)));
  }
  for (const std::string& note : energy.notes) out.push_back(before + note);
}

}  // namespace

std::string pin_text(const ArmPin& pin) {
  const auto listed = [](const std::vector<std::string>& list, const char* between) {
    std::string out;
    for (const std::string& one : list) out += (out.empty() ? "" : between) + printable(one, 160);
    return out;
  };
  if (pin.status == "not measured" && !pin.findings.empty()) {
    return "not measured (" + listed(pin.findings, "; ") + ")";
  }
  std::string text = printable(pin.status, 200);
  if (pin.status == "ok") {
    if (!pin.method.empty()) text += " by " + printable(pin.method, 40);
    if (!pin.boards.empty()) text += " on " + listed(pin.boards, ", ");
  }
  if (!pin.findings.empty()) text += ": " + listed(pin.findings, "; ");
  if (!pin.notes.empty()) text += "; " + listed(pin.notes, "; ");
  return text;
}

std::string joules(std::optional<double> value) {
  if (!value) return "–";
  const double size = std::abs(*value);
  if (size >= 1e7) return fmt::format("{:.3g}", *value);
  if (size >= 99.95) return fmt::format("{:.0f}", *value);
  return size == 0 ? "0" : fmt::format("{:#.3g}", *value);
}

const EnergyFigures* energy_on(const Heading& heading, const std::string& arm,
                               const std::string& task) {
  for (const RunJoules& run : heading.energy) {
    const EnergyFigures* found = task.empty() ? run.energy.arm(arm) : run.energy.task(arm, task);
    if (found != nullptr) return found;
  }
  return nullptr;
}

std::string net_cell(const EnergyFigures* figures) {
  if (figures == nullptr || !figures->net_per_decision()) return "–";
  return joules(figures->net_per_decision()) + (figures->net_valid() ? "" : "?");
}

std::string validity(const EnergyFigures& figures) {
  return figures.net_valid() ? "yes" : figures.gross_valid() ? "gross only" : "no";
}

std::optional<PricedJoules> priced(const EnergyFigures& figures) {
  const auto net = figures.net_per_decision(), gross = figures.gross_per_decision();
  if (net && figures.net_valid()) return PricedJoules{*net, true, true};
  if (gross) return PricedJoules{*gross, false, figures.gross_valid()};
  return std::nullopt;
}

std::string to_string(const PricedJoules& priced) {
  return priced.net ? "net" : priced.valid ? "gross" : "gross, not valid";
}

std::vector<ProbeTable> energy_tables(const Heading& heading) {
  const std::vector<Line> lines = all_lines(heading);
  if (lines.empty()) return {};
  std::vector<ProbeTable> out = {joules_table(lines), watts_table(lines)};
  if (heading.price.any()) out.push_back(price_table(lines, heading.price));
  return out;
}

std::vector<std::string> energy_remarks(const score::Scores& scores, const Heading& heading) {
  std::vector<std::string> out;
  for (const RunJoules& run : heading.energy) {
    add_run(scores, run, heading.energy.size() > 1, out);
  }
  return out;
}

}  // namespace deem::report

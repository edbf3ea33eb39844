#include "report/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/compare_energy.h"
#include "report/energy_parts.h"
#include "report/format.h"
#include "report/json_parts.h"

namespace deem::report {
namespace {

using codec::Json;
using score::Comparison;
using score::Interval;

/// "+.125", "-.02" with as many decimals as asked.
std::string signed_share(double value, int decimals) {
  std::string text = number(std::abs(value), decimals);
  if (text.starts_with("0.")) text.erase(0, 1);
  return (value < 0 ? "-" : "+") + text;
}

std::string difference(double value, const std::optional<Interval>& interval) {
  std::string out = signed_share(value, 3);
  if (interval) {
    out +=
        fmt::format(" [{}, {}]", signed_share(interval->low, 2), signed_share(interval->high, 2));
  }
  return out;
}

std::string p_value(double p) { return p < 0.001 ? "<.001" : share(p); }

std::string task_name(const Comparison& c) { return c.task.empty() ? "all" : c.task; }

std::vector<std::string> accuracy_cells(const Comparison& c) {
  return {fmt::format("{}", c.n),
          c.n > 0 ? share(c.accuracy_a) : "–",
          c.n > 0 ? share(c.accuracy_b) : "–",
          c.n > 0 ? difference(c.accuracy_b - c.accuracy_a, c.accuracy_difference) : "–",
          fmt::format("{}", c.right_a),
          fmt::format("{}", c.right_b),
          p_value(c.p),
          share(c.detectable)};
}

std::vector<std::string> cost_cells(const Comparison& c) {
  return {number(c.brier_a, 3),
          number(c.brier_b, 3),
          difference(c.brier_b - c.brier_a, c.brier_difference),
          duration(c.median_a),
          duration(c.median_b),
          duration(c.p95_a),
          duration(c.p95_b)};
}

const std::vector<std::string> kAccuracyHead = {"n",      "A",      "B", "B - A [95 %]",
                                                "A only", "B only", "p", "finds"};
const std::vector<std::string> kCostHead = {"Brier A", "B", "B - A [95 %]", "median A", "B",
                                            "p95 A",   "B"};

std::string line(const std::string& name, const std::vector<std::string>& cells,
                 const std::vector<std::size_t>& widths) {
  std::string out = "  " + pad(printable(name, 16), 16, false);
  for (std::size_t i = 0; i < cells.size(); ++i) out += " " + pad(cells[i], widths[i], true);
  return out + "\n";
}

/// The tasks with pairs, and all of them together unless it is one.
std::vector<const Comparison*> lines_of(const PairReport& pair) {
  std::vector<const Comparison*> out;
  for (const Comparison& task : pair.result.tasks) {
    if (task.n > 0) out.push_back(&task);
  }
  if (out.size() != 1) out.push_back(&pair.result.all);
  return out;
}

std::string gate_sentence(const score::Gate& gate, const score::GateResult& result) {
  if (!result.measured) {
    return fmt::format("gate {}: not measured{}", gate.text,
                       result.why.empty() ? "" : " (" + result.why + ")");
  }
  return fmt::format("gate {}: {} ({:.4g})", gate.text, result.holds ? "holds" : "FAILS",
                     result.value);
}

std::vector<std::string> sentences(const PairReport& pair, std::size_t pairs) {
  std::vector<std::string> out;
  const Comparison& all = pair.result.all;
  if (all.only_a + all.only_b > 0) {
    out.push_back(
        fmt::format("left out: {} items only A answered, {} only B", all.only_a, all.only_b));
  }
  if (pairs > 1) {
    out.push_back(
        fmt::format("p adjusted for {} comparisons (Holm): {}", pairs, p_value(pair.holm_p)));
  }
  if (!pair.unlike_work.empty()) out.push_back(pair.unlike_work);
  for (const auto& [gate, result] : pair.gates) out.push_back(gate_sentence(gate, result));
  if (pair.told_joules && pair.joules_shown && pair.joules.all.b) {
    out.push_back("net joules: these are the arms' above");
  } else if (pair.told_joules)
    std::ranges::move(joules_sentences(pair.joules), std::back_inserter(out));
  return out;
}

/// An arm's joules are of all its readings: one table for the pairs of two arms.
std::vector<NamedCells> energy_lines(const PairReport& pair) {
  return pair.joules_shown ? std::vector<NamedCells>() : joules_lines(pair.joules);
}

std::vector<std::string> frontier_sentences(const CompareReport& report) {
  std::vector<std::string> out;
  for (const FrontierPoint& point : report.frontier) {
    std::string figures =
        fmt::format("{}  {} in {}", point.name, share(point.accuracy), duration(point.median_s));
    if (point.joules) figures += fmt::format(", {} J", joules(point.joules));
    if (point.cost) figures += fmt::format(", {:.4g} for 1,000 decisions", *point.cost);
    out.push_back(point.dominated_by
                      ? figures + "  dominated by " + report.frontier[*point.dominated_by].name
                      : figures);
  }
  return out;
}

std::string frontier_title(const CompareReport& report) {
  const bool joules = std::ranges::any_of(
      report.frontier, [](const FrontierPoint& point) { return point.joules.has_value(); });
  return joules ? "Accuracy, median time and net joules" : "Accuracy and median time";
}

void markdown_row(std::string& out, const std::string& name,
                  const std::vector<std::string>& cells) {
  out += "| " + cell(name);
  for (const std::string& text : cells) out += " | " + cell(text);
  out += " |\n";
}

void markdown_head(std::string& out, const std::vector<std::string>& head) {
  markdown_row(out, "task", head);
  out += "| ---";
  for (std::size_t i = 0; i < head.size(); ++i) out += " | ---:";
  out += " |\n";
}

Json to_json(const Comparison& c) {
  Json out = Json::object();
  if (!c.task.empty()) out.set("task", c.task);
  for (const auto& [name, n] : {std::pair("n", c.n),
                                {"only_a", c.only_a},
                                {"only_b", c.only_b},
                                {"both_right", c.both_right},
                                {"both_wrong", c.both_wrong},
                                {"right_a", c.right_a},
                                {"right_b", c.right_b}}) {
    out.set(name, count(n));
  }
  out.set("accuracy_a", c.n > 0 ? Json(c.accuracy_a) : Json());
  out.set("accuracy_b", c.n > 0 ? Json(c.accuracy_b) : Json());
  out.set("accuracy_difference_95", interval(c.accuracy_difference));
  out.set("mcnemar_p", c.p);
  out.set("detectable", known(c.detectable));
  out.set("brier_a", c.n > 0 ? Json(c.brier_a) : Json());
  out.set("brier_b", c.n > 0 ? Json(c.brier_b) : Json());
  out.set("brier_difference_95", interval(c.brier_difference));
  out.set("median_a_s", known(c.median_a));
  out.set("median_b_s", known(c.median_b));
  out.set("p95_a_s", known(c.p95_a));
  out.set("p95_b_s", known(c.p95_b));
  out.set("cached_share_a", known(c.cached_a));
  out.set("cached_share_b", known(c.cached_b));
  return out;
}

Json to_json(const PairReport& pair) {
  Json out = Json::object();
  out.set("a", pair.a);
  out.set("b", pair.b);
  Json tasks = Json::array();
  for (const Comparison& task : pair.result.tasks) tasks.push(to_json(task));
  out.set("tasks", std::move(tasks));
  out.set("all", to_json(pair.result.all));
  out.set("holm_p", pair.holm_p);
  out.set("unlike_work", pair.unlike_work.empty() ? Json() : Json(pair.unlike_work));
  Json gates = Json::array();
  for (const auto& [gate, result] : pair.gates) {
    Json one = Json::object();
    one.set("gate", gate.text);
    one.set("measured", result.measured);
    one.set("holds", result.measured ? Json(result.holds) : Json());
    one.set("value", result.measured ? Json(result.value) : Json());
    if (!result.why.empty()) one.set("why", result.why);
    gates.push(std::move(one));
  }
  out.set("gates", std::move(gates));
  out.set("joules", pair.told_joules ? joules_json(pair.joules) : Json());
  Json disagreements = Json::array();
  for (const auto& d : pair.result.disagreements) {
    Json one = Json::object();
    one.set("task", d.task);
    one.set("id", d.id);
    if (d.repeat > 0) one.set("repeat", d.repeat);
    one.set("a", d.said_a);
    one.set("p_a", d.p_a);
    one.set("b", d.said_b);
    one.set("p_b", d.p_b);
    one.set("label", d.label);
    disagreements.push(std::move(one));
  }
  out.set("disagreements", std::move(disagreements));
  return out;
}

std::string disagreement_line(const score::Disagreement& d) {
  const auto mark = [&](const std::string& said) { return said == d.label ? " (right)" : ""; };
  return fmt::format("{} {}: A {}{} {}, B {}{} {}, label {}", printable(d.task, 30),
                     printable(d.id, 40), printable(d.said_a, 30), mark(d.said_a), share(d.p_a),
                     printable(d.said_b, 30), mark(d.said_b), share(d.p_b), printable(d.label, 30));
}

}  // namespace

void find_frontier(std::vector<FrontierPoint>& points) {
  using Figure = std::optional<double>;
  const auto no_worse = [](const Figure& x, const Figure& y) { return !x || !y || *x <= *y; };
  const auto better = [](const Figure& x, const Figure& y) { return x && y && *x < *y; };
  for (FrontierPoint& point : points) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const FrontierPoint& other = points[i];
      if (other.accuracy < point.accuracy || other.median_s > point.median_s) continue;
      if (!no_worse(other.cost, point.cost) || !no_worse(other.joules, point.joules)) continue;
      const bool better_in_one =
          other.accuracy > point.accuracy || other.median_s < point.median_s ||
          better(other.cost, point.cost) || better(other.joules, point.joules);
      if (!better_in_one) continue;
      if (!point.dominated_by || other.accuracy > points[*point.dominated_by].accuracy) {
        point.dominated_by = i;
      }
    }
  }
}

std::string as_text(const CompareReport& report, std::size_t width, bool colour) {
  const auto bold = [&](const std::string& text) {
    return colour ? "\033[1m" + text + "\033[0m" : text;
  };
  const auto dim = [&](const std::string& text) {
    return colour ? "\033[2m" + text + "\033[0m" : text;
  };
  static const std::vector<std::size_t> kAccuracy = {5, 5, 5, 20, 6, 6, 5, 5};
  static const std::vector<std::size_t> kCost = {7, 6, 20, 8, 8, 8, 8};
  static const std::vector<std::size_t> kJoules = {5, 6, 5, 6, 21, 21};
  std::string out;
  for (const PairReport& pair : report.pairs) {
    out += (out.empty() ? "" : "\n") + bold("A  " + printable(pair.a, width)) + "\n" +
           bold("B  " + printable(pair.b, width)) + "\n\n";
    out += dim(line("accuracy", kAccuracyHead, kAccuracy));
    for (const Comparison* c : lines_of(pair))
      out += line(task_name(*c), accuracy_cells(*c), kAccuracy);
    out += "\n" + dim(line("Brier, time", kCostHead, kCost));
    for (const Comparison* c : lines_of(pair)) {
      out += line(task_name(*c), cost_cells(*c), kCost);
    }
    const std::vector<NamedCells> energy = energy_lines(pair);
    if (!energy.empty()) out += "\n" + dim(line("net J/decision", kJoulesHead, kJoules));
    for (const auto& [name, cells] : energy) out += line(name, cells, kJoules);
    out += "\n";
    for (const std::string& sentence : sentences(pair, report.pairs.size()))
      out += "  - " + sentence + "\n";
    const auto& all = pair.result.disagreements;
    const std::size_t shown = std::min(report.disagreements, all.size());
    if (shown > 0) {
      out += fmt::format("  - they differ on {} items{}\n", all.size(),
                         shown < all.size() ? fmt::format("; the first {}:", shown) : ":");
    }
    for (std::size_t i = 0; i < shown; ++i) out += "      " + disagreement_line(all[i]) + "\n";
  }
  if (report.frontier.size() > 1) out += "\n" + bold(frontier_title(report)) + "\n";
  if (report.frontier.size() > 1) {
    for (const std::string& sentence : frontier_sentences(report)) out += "  - " + sentence + "\n";
  }
  if (!report.notes.empty()) out += "\n" + bold("To know") + "\n";
  for (const std::string& note : report.notes) out += "  - " + note + "\n";
  return out;
}

std::string as_markdown(const CompareReport& report) {
  std::string out = "# Comparison\n";
  for (const PairReport& pair : report.pairs) {
    out += fmt::format("\n## {} (A) and {} (B)\n\n", cell(pair.a), cell(pair.b));
    markdown_head(out, kAccuracyHead);
    for (const Comparison* c : lines_of(pair)) markdown_row(out, task_name(*c), accuracy_cells(*c));
    out += "\n";
    markdown_head(out, kCostHead);
    for (const Comparison* c : lines_of(pair)) {
      markdown_row(out, task_name(*c), cost_cells(*c));
    }
    const std::vector<NamedCells> energy = energy_lines(pair);
    if (!energy.empty()) {
      out += "\nNet joules a decision:\n\n";
      markdown_head(out, kJoulesHead);
    }
    for (const auto& [name, cells] : energy) markdown_row(out, name, cells);
    out += "\n";
    for (const std::string& sentence : sentences(pair, report.pairs.size())) {
      out += "- " + cell(sentence) + "\n";
    }
    const std::size_t shown = std::min(report.disagreements, pair.result.disagreements.size());
    for (std::size_t i = 0; i < shown; ++i) {
      out += "- " + cell(disagreement_line(pair.result.disagreements[i])) + "\n";
    }
  }
  if (report.frontier.size() > 1) {
    out += "\n## " + frontier_title(report) + "\n\n";
    for (const std::string& sentence : frontier_sentences(report))
      out += "- " + cell(sentence) + "\n";
  }
  if (!report.notes.empty()) out += "\n## To know\n\n";
  for (const std::string& note : report.notes) out += "- " + cell(note) + "\n";
  return out;
}

std::string as_json(const CompareReport& report) {
  Json out = Json::object();
  out.set("schema", "deem.compare/1");
  out.set("seed", static_cast<std::uint64_t>(score::kScoreSeed));
  Json pairs = Json::array();
  for (const PairReport& pair : report.pairs) pairs.push(to_json(pair));
  out.set("pairs", std::move(pairs));
  Json frontier = Json::array();
  for (const FrontierPoint& point : report.frontier) {
    Json one = Json::object();
    one.set("name", point.name);
    one.set("accuracy", point.accuracy);
    one.set("median_s", point.median_s);
    one.set("cost_per_1000", known(point.cost));
    one.set("net_j_per_decision", known(point.joules));
    one.set("dominated_by",
            point.dominated_by ? Json(report.frontier[*point.dominated_by].name) : Json());
    frontier.push(std::move(one));
  }
  out.set("frontier", std::move(frontier));
  Json notes = Json::array();
  for (const std::string& note : report.notes) notes.push(note);
  out.set("notes", std::move(notes));
  return codec::dump_json(out, {.ascii = false, .indent = 1}) + "\n";
}

}  // namespace deem::report

#include "report/compare_energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/energy_parts.h"
#include "report/format.h"
#include "report/json_parts.h"

namespace deem::report {
namespace {

using codec::Json;
using score::JoulesPair;

std::string marked(std::optional<double> value, bool valid) {
  return joules(value) + (value && !valid ? "?" : "");
}

std::string signed_joules(double value) {
  return (value < 0 ? "-" : "+") + joules(std::abs(value));
}

std::string difference(const JoulesPair& pair) {
  if (!pair.difference) return "–";
  std::string out = signed_joules(*pair.difference);
  if (const auto& by = pair.difference_95) {
    out += fmt::format(" [{}, {}]", signed_joules(by->low), signed_joules(by->high));
  }
  return out;
}

std::string ratio(const JoulesPair& pair) {
  if (!pair.ratio) return "–";
  std::string out = fmt::format("{:.3f}x", *pair.ratio);
  if (const auto& by = pair.ratio_95) out += fmt::format(" [{:.2f}, {:.2f}]", by->low, by->high);
  return out;
}

NamedCells line_of(const JoulesPair& pair) {
  return {pair.task.empty() ? "all" : pair.task,
          {fmt::format("{}", pair.decisions_a), marked(pair.a, pair.a_valid),
           fmt::format("{}", pair.decisions_b), marked(pair.b, pair.b_valid), difference(pair),
           ratio(pair)}};
}

Json to_json(const JoulesPair& pair) {
  Json out = Json::object();
  if (!pair.task.empty()) out.set("task", pair.task);
  out.set("decisions_a", pair.decisions_a);
  out.set("decisions_b", pair.decisions_b);
  out.set("net_j_per_decision_a", known(pair.a));
  out.set("net_j_per_decision_b", known(pair.b));
  out.set("valid_a", pair.a_valid);
  out.set("valid_b", pair.b_valid);
  out.set("difference", known(pair.difference));
  out.set("difference_95", interval(pair.difference_95));
  out.set("ratio", known(pair.ratio));
  out.set("ratio_95", interval(pair.ratio_95));
  out.set("why", pair.why.empty() ? Json() : Json(pair.why));
  return out;
}

}  // namespace

const std::vector<std::string> kJoulesHead = {"n A",          "A",           "n B", "B",
                                              "B - A [95 %]", "B / A [95 %]"};

std::vector<NamedCells> joules_lines(const score::ComparedJoules& joules) {
  std::vector<NamedCells> out;
  if (!joules.all.a && !joules.all.b) return out;
  for (const JoulesPair& task : joules.tasks) out.push_back(line_of(task));
  if (out.size() != 1) out.push_back(line_of(joules.all));
  return out;
}

std::vector<std::string> joules_sentences(const score::ComparedJoules& joules) {
  std::vector<std::string> out;
  for (const JoulesPair& task : joules.tasks) {
    if (task.why.empty() || task.why == joules.all.why) continue;
    out.push_back("joules on " + task.task + " are not compared: " + task.why);
  }
  if (!joules.all.why.empty()) out.push_back("joules are not compared: " + joules.all.why);
  return out;
}

codec::Json joules_json(const score::ComparedJoules& joules) {
  Json tasks = Json::array();
  for (const JoulesPair& task : joules.tasks) tasks.push(to_json(task));
  return Json::object({{"tasks", std::move(tasks)}, {"all", to_json(joules.all)}});
}

}  // namespace deem::report

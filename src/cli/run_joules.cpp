#include "cli/run_joules.h"

#include <algorithm>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace deem::cli {
namespace {

using codec::Json;

constexpr std::string_view kNotMeasured = "not measured (";

/// "not measured (why)", whatever a status that is not ok says; "" for ok and for none.
std::string not_measured(const Json* status) {
  if (status == nullptr || !status->is_string()) return {};
  const std::string text = printable(status->as_string(), 400);
  if (text == "ok") return {};
  return text.starts_with(kNotMeasured) ? text : std::string(kNotMeasured) + text + ")";
}

/// The why of "not measured (why)".
std::string why(std::string status) {
  status.erase(0, kNotMeasured.size());
  if (status.ends_with(')')) status.pop_back();
  return status;
}

const Json* member(const Json& in, std::string_view name) {
  return in.is_object() ? in.find(name) : nullptr;
}

std::vector<std::string> texts(const Json& pin, std::string_view name) {
  std::vector<std::string> out;
  const Json* list = member(pin, name);
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& one : list->items()) {
    if (one.is_string()) out.push_back(one.as_string());
  }
  return out;
}

/// What a pin found; "" when it found nothing.
std::string pin_finding(const Json& pin) {
  if (!pin.is_object() || pin.get_string("status") != "finding") return {};
  std::string out;
  for (const std::string& one : texts(pin, "findings")) out += (out.empty() ? "" : "; ") + one;
  return printable(out.empty() ? "its pin failed" : out, 400);
}

/// What run.json says of each arm's joules.
std::vector<score::ArmStatus> arm_statuses(
    const record::RunRecord& run, const std::function<std::string(const std::string&)>& name_arm) {
  std::vector<score::ArmStatus> out;
  const Json* arms = member(run.energy, "arms");
  if (arms == nullptr || !arms->is_object()) return out;
  for (const auto& [name, told] : arms->members()) {
    const std::string status = not_measured(member(told, "status"));
    std::vector<std::string> boards = texts(told, "boards");
    for (std::string& board : boards) board = printable(board, 400);
    const auto arm = std::ranges::find(run.arms, name, &record::ArmRecord::name);
    out.push_back({name_arm(name), status.empty() ? "ok" : status,
                   arm == run.arms.end() ? "" : pin_finding(arm->pin), std::move(boards)});
  }
  return out;
}

score::RunEnergy energy_of(const std::string& path, const Json& told, record::PowerFile& power) {
  if (!file_exists(path)) {
    const std::string status = not_measured(member(told, "status"));
    if (!status.empty()) return score::energy_not_measured(why(status));
    return score::energy_not_measured(told.is_null() ? "the run says nothing of its boards"
                                                     : "power.jsonl is missing");
  }
  Result<record::PowerFile> file = record::load_power(path);
  if (!file) return score::energy_not_measured(printable(file.error().message, 400));
  power = std::move(*file);
  return score::energy_of(power);
}

/// Names that a file brings are text of strangers.
void clean(score::EnergyFigures& figures) {
  for (score::BoardEnergy& board : figures.boards) board.board = printable(board.board, 400);
  for (auto* list : {&figures.reasons, &figures.notes}) {
    for (score::EnergyReason& reason : *list) reason.text = printable(reason.text, 400);
  }
}

void name_arms(score::RunEnergy& energy,
               const std::function<std::string(const std::string&)>& name_arm) {
  for (auto* list : {&energy.blocks, &energy.tasks, &energy.arms}) {
    for (score::EnergyFigures& figures : *list) {
      figures.arm = name_arm(figures.arm);
      figures.task = printable(figures.task, std::string::npos);
      figures.probe = printable(figures.probe, 200);
      clean(figures);
    }
  }
  for (score::EnergyFigures& load : energy.loads) {
    load.arm = printable(load.arm, 200);
    clean(load);
  }
  clean(energy.all);
  for (std::string& note : energy.notes) note = printable(note, 400);
}

}  // namespace

report::ArmPin pin_of(const record::ArmRecord& arm, const std::string& name) {
  report::ArmPin out{.arm = name};
  out.status = arm.pin.get_string("status").value_or("");
  out.method = arm.pin.get_string("method").value_or("");
  out.findings = texts(arm.pin, "findings");
  out.notes = texts(arm.pin, "notes");
  const Json* boards = member(arm.pin, "boards");
  if (boards == nullptr || !boards->is_array()) return out;
  for (const Json& board : boards->items()) {
    if (!board.is_object()) continue;
    const auto id = board.get_string("id");
    if (id && board.get_bool("named").value_or(true)) out.boards.push_back(*id);
  }
  return out;
}

LoadedJoules load_joules(const std::string& folder, const record::RunRecord& run,
                         std::span<const record::Row> rows,
                         const std::function<std::string(const std::string&)>& name_arm) {
  LoadedJoules out;
  out.joules.run = folder;
  out.joules.energy = energy_of(join_path(folder, "power.jsonl"), run.energy, out.power);
  name_arms(out.joules.energy, name_arm);
  score::hold_against_run(out.joules.energy, arm_statuses(run, name_arm), rows);
  for (const record::ArmRecord& arm : run.arms) {
    if (!arm.pin.is_null()) out.joules.pins.push_back(pin_of(arm, name_arm(arm.name)));
  }
  return out;
}

}  // namespace deem::cli

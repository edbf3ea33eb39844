#include "bench/calibration.h"

#include <algorithm>

#include "base/digest.h"
#include "bench/prompts.h"
#include "decision/letters.h"

namespace deem::bench {
namespace {

using codec::Json;

/// Why an entry is not for the task of its name in this kit, or "".
std::string differs_in(const kit::Kit& kit, const record::FitEntry& entry, bool chosen) {
  const auto task = std::ranges::find(kit.tasks, entry.task, &kit::Task::name);
  if (task == kit.tasks.end() || task->items.empty()) return "";
  const auto kind = find_reading(*task, entry.reading);
  const std::string what = "reading " + entry.reading + " of task " + entry.task;
  if (!kind) return chosen ? what + " is not in this kit" : "";
  if (task->type != entry.type) return "task " + entry.task + " is of another type in this kit";
  if (*kind != ReadingKind::Likelihood || entry.prompt_digest.empty()) return "";
  const TextsPrompt prompt =
      make_texts_prompt(kit, *task, task->items.front(), entry.reading, false);
  return prompt.digest == entry.prompt_digest ? "" : what + " has other texts in this kit";
}

}  // namespace

bool reads_chosen(const Arm& arm) {
  return std::ranges::find(arm.readings, kChosenReading, &ReadingChoice::name) !=
         arm.readings.end();
}

Result<void> load_fits(Config& config) {
  for (Arm& arm : config.arms) {
    if (!arm.calibration.empty() && arm.fit.entries.empty()) {
      Result<record::Fit> fit = record::load_fit(arm.calibration);
      if (!fit) return fail(fit.error());
      arm.fit = std::move(*fit);
    }
    if (reads_chosen(arm) && arm.fit.by != "choose") {
      return fail(Error::Code::BadInput,
                  "arm " + arm.name + ": reading chosen wants a fit file by deem choose" +
                      (arm.calibration.empty() ? "; name one by --calibration"
                                               : ", and " + arm.calibration + " is none"));
    }
  }
  return {};
}

Result<void> check_fit(const Arm& arm, const seat::Identity& identity, const kit::Kit& kit) {
  if (arm.calibration.empty()) return {};
  const auto refused = [&](const std::string& why) {
    return fail(Error::Code::BadInput, "calibration " + arm.fit.name + " (" + arm.calibration +
                                           ") is not for this arm: " + why);
  };
  const auto differs = record::difference(arm.fit.model, record::fit_model(to_json(identity)));
  if (differs) return refused(*differs);
  for (const record::FitEntry& entry : arm.fit.entries) {
    if (!entry.policy.empty() && entry.policy != decision::to_string(arm.policy)) {
      return refused("letters by policy " + entry.policy + " there, " +
                     std::string(decision::to_string(arm.policy)) + " here");
    }
    const std::string why = differs_in(kit, entry, reads_chosen(arm));
    if (!why.empty()) return refused(why);
  }
  return {};
}

Json calibration_json(const Arm& arm) {
  if (arm.calibration.empty()) return {};
  Json fit = record::to_json(arm.fit);
  const std::string text = record::format_fit(arm.fit);
  return Json::object(
      {{"path", arm.calibration}, {"sha256", sha256_hex(text)}, {"fit", std::move(fit)}});
}

Result<void> read_calibration(const Json& json, Arm& arm) {
  if (json.is_null()) return {};
  const Json* fit = json.find("fit");
  if (fit == nullptr) return fail(Error::Code::Corrupt, "calibration holds no fit");
  Result<record::Fit> parsed = record::parse_fit(*fit);
  if (!parsed) return fail("calibration", parsed.error());
  arm.fit = std::move(*parsed);
  return {};
}

}  // namespace deem::bench

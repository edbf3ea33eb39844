#include "bench/run_power.h"

#include <fmt/format.h>

#include <algorithm>

namespace deem::bench {
namespace {

bool is_ok(const codec::Json& told) {
  return told.is_object() && told.get_string("status") == "ok";
}

/// A member that is an object, to be changed.
codec::Json* member(codec::Json& in, std::string_view name) {
  if (!in.is_object()) return nullptr;
  for (auto& [key, value] : in.members()) {
    if (key == name) return value.is_object() ? &value : nullptr;
  }
  return nullptr;
}

}  // namespace

std::optional<Outcome> refuse_pin(const Config& config, const std::string& arm,
                                  const std::optional<board::PinVerdict>& pin) {
  using State = board::PinVerdict::State;
  if (!config.power.require_pin || (pin && pin->state == State::Ok)) return std::nullopt;
  const bool found = pin && pin->state == State::Finding;
  return Outcome{.end = found ? Outcome::End::PinFailed : Outcome::End::PinNotMeasured,
                 .began = false,
                 .folder = config.out,
                 .why = "arm " + arm + ": " +
                        (pin ? board::describe(*pin) : "not measured (no board was named)")};
}

std::string words_of(const codec::Json& energy, const RunBoards& boards, const Config& config) {
  std::string ids;
  for (const SeatBoards& seat : boards.seats) {
    for (const board::BoardInfo& one : seat.counted) {
      if (ids.find(one.id) == std::string::npos) ids += (ids.empty() ? "" : ", ") + one.id;
    }
  }
  if (ids.empty()) return energy.get_string("status").value_or("");
  return fmt::format("of {}, {:g} s at rest before and after", ids, config.power.idle_s);
}

void add_sitting(record::RunRecord& run, const record::RunRecord& now) {
  if (!is_ok(run.energy) && is_ok(now.energy)) run.energy = now.energy;
  for (std::size_t a = 0; a < run.arms.size(); ++a) {
    if (!is_ok(now.arms[a].pin) && (run.arms[a].pin.is_null() || is_ok(run.arms[a].pin))) {
      run.arms[a].pin = now.arms[a].pin;
    }
  }
}

void tell_unmeasured(const Config& config, const Setup& setup, const Asking& asking,
                     record::RunRecord& run) {
  codec::Json* arms = member(run.energy, "arms");
  if (arms == nullptr) return;
  for (const auto& [seat, why] : asking.unmeasured()) {
    for (std::size_t a = 0; a < config.arms.size(); ++a) {
      if (setup.arms[a].seat != seat) continue;
      if (codec::Json* arm = member(*arms, config.arms[a].name)) {
        arm->set("status", "not measured (" + why + ")");
      }
    }
  }
}

void tell_other_boards(const record::RunRecord& run, const record::RunRecord& now,
                       Observer& observer) {
  const auto arms_of = [](const record::RunRecord& record) {
    const codec::Json* arms = record.energy.is_object() ? record.energy.find("arms") : nullptr;
    return arms != nullptr && arms->is_object() ? *arms : codec::Json::object();
  };
  const codec::Json before = arms_of(run), after = arms_of(now);
  for (const auto& [name, told] : after.members()) {
    const codec::Json* then = before.find(name);
    if (then == nullptr || !is_ok(*then)) continue;
    if (!is_ok(told)) {
      observer.note("arm " + name + ": joules of this sitting " +
                    told.get_string("status").value_or("not measured") +
                    "; the run's are not valid as a whole");
      continue;
    }
    const codec::Json *a = then->find("boards"), *b = told.find("boards");
    if (a != nullptr && b != nullptr && !(*a == *b)) {
      observer.note("finding: arm " + name + " is read on other boards than when the run began (" +
                    codec::dump_json(*a) + " then, " + codec::dump_json(*b) +
                    " now): its joules are not valid");
    }
  }
}

}  // namespace deem::bench

#include "bench/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "board/pin_seat.h"

namespace deem::bench {
namespace {

using codec::Json;
using seat::ProbeResult;
using Verdict = ProbeResult::Verdict;

constexpr std::size_t kSentence = 300;

template <class List>
bool holds(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != std::end(list);
}

void add(std::vector<std::string>& list, std::string_view name) {
  if (!holds(list, name)) list.emplace_back(name);
}

std::string joined(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& one : list) out += (out.empty() ? "" : ", ") + one;
  return out;
}

std::string found_text(const ProbeResult& probe) {
  std::string out = probe.name + ": " + printable(probe.says, kSentence);
  if (!probe.direction.empty()) out += " [" + probe.direction + "]";
  return out;
}

/// 2: a finding, 1: not measured, 0: ok.
int badness(std::string_view verdict) { return verdict == "finding" ? 2 : verdict == "ok" ? 0 : 1; }

const Json* find_named(const Json* list, std::string_view name) {
  if (list == nullptr || !list->is_array()) return nullptr;
  for (const Json& one : list->items()) {
    if (one.is_object() && one.get_string("name") == name) return &one;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> diagnosed_readings(const Arm& arm) {
  std::vector<std::string> out;
  for (const ReadingChoice& choice : arm.readings) {
    const std::string& name = choice.name;
    if (name == kNativeReading || (is_native(arm) && name == "all")) {
      add(out, kNativeReading);
    } else if (name == "written" || name == "letters") {
      add(out, name);
    } else if (name == "all" || name == kChosenReading) {  // a fit may choose either
      add(out, "letters");
      add(out, "likelihood");
    } else {
      add(out, "likelihood");
    }
  }
  return out;
}

std::vector<std::string> probes_for(const Config& config, const seat::SeatSpec& spec) {
  std::vector<std::string> wanted;
  if (config.doctor == Doctor::Off) return wanted;
  const bool native = seat::is_native_kind(spec.kind);
  const auto is_wanted = [&](std::string_view name) {
    if (native ? holds(seat::kQuickNativeProbes, name) : holds(seat::kQuickProbes, name))
      return true;
    return std::ranges::any_of(
        config.arms, [&](const Arm& arm) { return arm.seat == spec && holds(arm.require, name); });
  };
  const auto pick = [&](const auto& all) {
    for (const std::string_view name : all) {
      if (is_wanted(name)) wanted.emplace_back(name);
    }
  };
  native ? pick(seat::kNativeProbes) : pick(seat::kProbes);
  return wanted;
}

Result<std::optional<seat::Diagnosis>> diagnose(const Config& config, const seat::SeatSpec& spec,
                                                seat::Seat& seat, board::Boards* boards,
                                                const std::stop_token& stop) {
  seat::DoctorOptions options;
  options.probes = probes_for(config, spec);
  if (options.probes.empty()) return std::nullopt;
  options.patience_s = spec.timeout_s;
  if (boards != nullptr) {
    options.held_mib = [&] {
      return board::held_by_seat(*boards, spec.kind == "local" ? "" : spec.address);
    };
  }
  Result<seat::Diagnosis> found = seat::examine(seat, options, nullptr, stop);
  if (!found) return fail(found.error());
  if (stop.stop_requested()) return std::nullopt;
  return std::move(*found);
}

seat::ProbeResult look_again(const Config& config, const seat::SeatSpec& spec, seat::Seat& seat,
                             const seat::Diagnosis& before, std::span<const std::string> readings,
                             int& requests, const std::stop_token& stop) {
  seat::DoctorOptions options;
  options.patience_s = spec.timeout_s;
  options.crowd = std::min(options.crowd, config.concurrency);
  return seat::examine_again(seat, before, readings, options, requests, stop);
}

void add_probe(Json& doctor, const ProbeResult& probe, int requests) {
  Json probes = Json::array();
  Json added = seat::to_json(probe);
  if (const Json* kept = doctor.find("probes"); kept != nullptr && kept->is_array()) {
    for (const Json& one : kept->items()) {
      if (!one.is_object() || one.get_string("name") != probe.name) {
        probes.push(one);
      } else if (badness(one.get_string("verdict").value_or("")) >
                 badness(seat::to_string(probe.verdict))) {
        added = one;
      }
    }
  }
  probes.push(std::move(added));
  doctor.set("probes", std::move(probes));
  doctor.set("requests", doctor.get_int("requests").value_or(0) + requests);
}

std::string doubt_of(const Arm& arm, const ProbeResult& probe) {
  if (probe.verdict != Verdict::Finding) return "";
  const std::vector<std::string> readings = diagnosed_readings(arm);
  for (const std::string& reading : probe.spoils) {
    if (!holds(readings, reading)) continue;
    return fmt::format("arm {}: its {} can not be believed: {}", arm.name, reading,
                       found_text(probe));
  }
  return "";
}

void tell_finding(const ProbeResult& probe, const std::string& arm, Observer& observer) {
  if (probe.verdict != Verdict::Finding) return;
  observer.note("arm " + arm + ": doctor: finding: " + found_text(probe) +
                (probe.spoils.empty() ? "" : "; do not believe " + joined(probe.spoils)));
}

void tell_diagnosis(const seat::Diagnosis& diagnosis, const std::string& arm, Observer& observer) {
  for (const ProbeResult& probe : diagnosis.probes) tell_finding(probe, arm, observer);
  const std::size_t unknown = diagnosis.count(Verdict::NotMeasured);
  observer.stage(fmt::format("doctor of arm {}: {} ok, {} found{}; {} requests in {:.1f} s", arm,
                             diagnosis.count(Verdict::Ok), diagnosis.count(Verdict::Finding),
                             unknown > 0 ? fmt::format(", {} not measured", unknown) : "",
                             diagnosis.requests, diagnosis.took_s));
}

Json diagnosis_json(const Config& config, const seat::Diagnosis& diagnosis) {
  Json probes = Json::array();
  for (const ProbeResult& probe : diagnosis.probes) probes.push(seat::to_json(probe));
  return Json::object({{"mode", to_string(config.doctor)},
                       {"probes", std::move(probes)},
                       {"requests", diagnosis.requests},
                       {"took_s", diagnosis.took_s}});
}

Json merge_diagnoses(const Json& then, const Json& now, std::vector<std::string>& changes) {
  if (!now.is_object()) return then;
  if (!then.is_object()) return now;
  const Json *before = then.find("probes"), *after = now.find("probes");
  if (after == nullptr || !after->is_array()) return then;
  Json probes = Json::array();
  for (const Json& one : after->items()) {
    const std::string name = one.get_string("name").value_or("");
    const std::string verdict = one.get_string("verdict").value_or("");
    const Json* old = find_named(before, name);
    const std::string was = old == nullptr ? verdict : old->get_string("verdict").value_or("");
    if (was != verdict) changes.push_back(name + ": " + was + " then, " + verdict + " now");
    probes.push(badness(was) > badness(verdict) ? *old : one);
  }
  if (before != nullptr && before->is_array()) {
    for (const Json& one : before->items()) {
      if (!one.is_object()) continue;
      if (find_named(after, one.get_string("name").value_or("")) == nullptr) probes.push(one);
    }
  }
  Json out = now;
  out.set("probes", std::move(probes));
  return out;
}

std::optional<Refusal> refuse_diagnosis(const Config& config, const Arm& arm,
                                        const seat::Diagnosis& diagnosis) {
  for (const ProbeResult& probe : diagnosis.probes) {
    if (!holds(arm.require, probe.name) || probe.verdict == Verdict::Ok) continue;
    const bool found = probe.verdict == Verdict::Finding;
    return Refusal{
        .why = fmt::format("arm {}: requires the probe {}, which is {}: {}", arm.name, probe.name,
                           found ? "a finding" : "not measured", printable(probe.says, kSentence)),
        .found = found};
  }
  if (config.doctor != Doctor::Require) return std::nullopt;
  for (const ProbeResult& probe : diagnosis.probes) {
    if (std::string why = doubt_of(arm, probe); !why.empty())
      return Refusal{.why = std::move(why), .found = true};
  }
  return std::nullopt;
}

}  // namespace deem::bench

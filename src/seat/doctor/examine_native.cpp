#include "seat/doctor/native.h"

namespace deem::seat {
namespace {

using Run = ProbeResult (*)(Native&);
constexpr std::pair<std::string_view, Run> kRuns[] = {
    {"answers", probe_native_answers},
    {"ids", probe_ids},
    {"company", probe_company},
    {"repeat", probe_native_repeat},
    {"overlong", probe_native_overlong},
    {"errors", probe_errors},
    {"sanity", [](Native& native) { return probe_native_sanity(native.session); }}};

ReadingAdvice advise(const Native& native, const Diagnosis& from) {
  ReadingAdvice out{.name = std::string(Native::kReading), .supported = native.broken.empty()};
  out.why = native.broken.empty() ? "the endpoint's own probabilities" : native.broken;
  std::string found;
  for (const ProbeResult& probe : from.probes) {
    if (std::ranges::find(probe.spoils, Native::kReading) == probe.spoils.end()) continue;
    found += (found.empty() ? "" : ", ") + probe.name;
  }
  if (out.supported && !found.empty()) out.why = "see " + found;
  out.believed = out.supported && found.empty();
  add_sanity(native.session, out);
  return out;
}

}  // namespace

void examine_native(Session& session, const std::function<void(std::string_view)>& progress) {
  Diagnosis& out = session.out;
  if (progress) progress("identity");
  out.probes.push_back(probe_identity(session));
  if (auto can = session.seat.capabilities()) out.capabilities = std::move(*can);
  Native native{.session = session};
  for (const auto& [name, run] : kRuns) {
    if (!session.wants(name)) continue;
    const bool stopped = session.stop.stop_requested();
    if (!stopped && progress) progress(name);
    const bool stands_on_first =
        name == "ids" || name == "company" || name == "repeat" || name == "sanity";
    ProbeResult result = stopped             ? ProbeResult{}
                         : session.is_hung() ? not_measured(name, "it answers nothing any more")
                         : stands_on_first && !native.broken.empty()
                             ? not_measured(name, native.broken)
                             : run(native);
    if (session.stop.stop_requested()) result = not_measured(name, "interrupted");
    out.probes.push_back(std::move(result));
  }
  if (session.options.against != nullptr) {
    const bool stopped = session.stop.stop_requested();
    if (!stopped && progress) progress("against");
    ProbeResult result = stopped                 ? ProbeResult{}
                         : native.broken.empty() ? probe_against(session)
                                                 : not_measured("against", native.broken);
    if (session.stop.stop_requested()) result = not_measured("against", "interrupted");
    out.probes.push_back(std::move(result));
  }
  if (!session.stop.stop_requested()) {
    compare_identity(session, out.probes.front());
    add_failures(session, out.probes);
  }
  if (auto& spoils = out.probes.front().spoils; !spoils.empty())
    spoils = {std::string(Native::kReading)};
  out.baseline = {.nonce = session.nonce(),
                  .lineage = session.lineage,
                  .native = native.told.empty() ? Native::Probs() : native.told.back(),
                  .decided = native.usage};
  out.readings.push_back(advise(native, out));
  if (session.stop.stop_requested()) forget_advice(out);
}

}  // namespace deem::seat

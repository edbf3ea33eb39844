#include <algorithm>
#include <array>

#include "base/text.h"
#include "seat/doctor/session.h"
#include "seat/give_up.h"

namespace deem::seat {
namespace {

using Verdict = ProbeResult::Verdict;
using Run = ProbeResult (*)(Session&);

/// In the order they are run: what later ones stand on comes first.
constexpr std::array<std::pair<std::string_view, Run>, std::size(kProbes)> kRuns = {{
    {"answers", probe_answers},
    {"shape", probe_shape},
    {"identity", probe_identity},
    {"tokenizer", probe_tokenizer},
    {"template", probe_template},
    {"letters", probe_letters},
    {"depth", probe_depth},
    {"repeat", probe_repeat},
    {"logprobs", probe_logprobs},
    {"mixed", probe_mixed},
    {"speculation", probe_speculation},
    {"prefix-cache", probe_prefix_cache},
    {"overlong", probe_overlong},
    {"residency", probe_residency},
    {"sanity", probe_sanity},
}};

ProbeResult* find(std::vector<ProbeResult>& probes, std::string_view name) {
  const auto found = std::ranges::find(probes, name, &ProbeResult::name);
  return found == probes.end() ? nullptr : &*found;
}

}  // namespace

void add_failures(const Session& session, std::vector<ProbeResult>& probes) {
  ProbeResult* answers = find(probes, "answers");
  if (answers != nullptr && session.busy > 0) {
    answers->says += "; " + std::to_string(session.busy) + " of " +
                     std::to_string(session.out.requests) +
                     " requests put off as too many (HTTP 429)";
  }
  if (answers == nullptr || session.failures.empty() || answers->verdict == Verdict::Finding)
    return;
  answers->verdict = Verdict::Finding;
  answers->direction = "false alarm";
  answers->spoils = {session.failing.begin(), session.failing.end()};
  answers->says = std::to_string(session.failures.size()) + " of " +
                  std::to_string(session.out.requests) +
                  " requests were not answered: " + printable(session.failures.front(), 240);
}

namespace {

/// Readings that had no numbers in any probe, where the first had.
void add_odd(const Session& session, std::vector<ProbeResult>& probes) {
  ProbeResult* repeat = find(probes, "repeat");
  if (repeat == nullptr || session.odd == 0) return;
  const std::string says = std::to_string(session.odd) + " of " + std::to_string(session.asked) +
                           " decisions had no reading where others had (" + session.odd_cause + ")";
  repeat->says = repeat->verdict == Verdict::Finding ? repeat->says + "; " + says : says;
  repeat->verdict = Verdict::Finding;
  repeat->direction = repeat->direction.find("alarm") == std::string::npos
                          ? "false comfort"
                          : "false comfort and false alarm";
  if (std::ranges::find(repeat->spoils, "letters") == repeat->spoils.end())
    repeat->spoils.emplace_back("letters");
}

/// Names of the probes whose findings speak against a reading.
std::string against(const std::vector<ProbeResult>& probes, std::string_view reading) {
  std::string out;
  for (const ProbeResult& probe : probes) {
    if (std::ranges::find(probe.spoils, reading) == probe.spoils.end()) continue;
    out += (out.empty() ? "" : ", ") + probe.name;
  }
  return out;
}

ReadingAdvice advise(std::string name, bool supported, std::string why, const Session& session) {
  ReadingAdvice out{.name = std::move(name), .supported = supported, .why = std::move(why)};
  const std::string found = against(session.out.probes, out.name);
  if (supported && !found.empty()) out.why = "see " + found;
  out.believed = supported && found.empty();
  add_sanity(session, out);
  return out;
}

std::string letters_by(const Capabilities& can) {
  switch (can.letters) {
    case Capabilities::Letters::FullVocabulary:
      return "the whole vocabulary";
    case Capabilities::Letters::ExactIds:
      return "exact ids";
    case Capabilities::Letters::TopK:
      return "the top " + std::to_string(can.top_k);
    case Capabilities::Letters::None:
      break;
  }
  return can.letters_note.empty() ? "no logprobs" : printable(can.letters_note, 200);
}

void add_advice(const Session& session, Diagnosis& out) {
  const bool answers = session.no_answers.empty();
  const Capabilities can = out.capabilities.value_or(Capabilities{});
  const bool letters = answers && can.letters != Capabilities::Letters::None;
  out.readings.push_back(
      advise("letters", letters, answers ? letters_by(can) : session.no_answers, session));
  out.readings.push_back(advise("likelihood", answers && can.likelihood,
                                !answers                      ? session.no_answers
                                : can.likelihood_note.empty() ? "token by token"
                                                              : printable(can.likelihood_note, 200),
                                session));
  out.readings.push_back(advise("written", answers && session.written.has_value(),
                                answers ? "the chat route" : session.no_answers, session));
}

void sort_probes(std::vector<ProbeResult>& probes) {
  std::ranges::sort(probes, {}, [](const ProbeResult& probe) {
    return std::ranges::find(kProbes, probe.name) - std::begin(kProbes);
  });
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  return verdict == Verdict::Ok ? "ok" : verdict == Verdict::Finding ? "finding" : "not measured";
}

std::size_t Diagnosis::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(probes, verdict, &ProbeResult::verdict));
}

Result<Diagnosis> examine(Seat& seat, const DoctorOptions& options,
                          const std::function<void(std::string_view)>& progress,
                          const std::stop_token& stop) {
  const TimePoint began = Clock::now();
  const GiveUp on_stop(stop, seat);
  Session session(seat, options, stop);
  auto identity = seat.identify();
  if (!identity) return fail(identity.error());
  session.out.identity = std::move(*identity);
  Diagnosis& out = session.out;
  if (is_native_kind(out.identity.kind)) {
    examine_native(session, progress);
    out.took_s = Seconds(Clock::now() - began).count();
    return std::move(out);
  }
  bool gone = false;
  for (const auto& [name, run] : kRuns) {
    if (!session.wants(name)) continue;
    if (!stop.stop_requested() && progress) progress(name);
    if (!gone && session.is_hung() && !stop.stop_requested()) {
      gone = !session.is_back();
      if (gone) session.failing.insert({"letters", "likelihood", "written"});
    }
    ProbeResult result = stop.stop_requested() ? ProbeResult{}
                         : gone                ? not_measured(name, "it answers nothing any more")
                                               : run(session);
    if (session.refused) return fail(*session.refused);
    // A call that was ended says nothing of the seat.
    if (stop.stop_requested()) result = not_measured(name, "interrupted");
    if (name == "answers" && session.no_answers.empty()) {
      if (auto can = seat.capabilities()) {
        out.capabilities = std::move(*can);
      } else if (session.no_letters.empty()) {
        session.no_letters = printable(can.error().message, 200);
      }
    }
    out.probes.push_back(std::move(result));
  }
  if (!stop.stop_requested()) {
    if (ProbeResult* found = find(out.probes, "identity")) compare_identity(session, *found);
    add_failures(session, out.probes);
    add_odd(session, out.probes);
  }
  sort_probes(out.probes);
  add_advice(session, out);
  if (stop.stop_requested()) forget_advice(out);
  out.baseline = {.nonce = session.nonce(),
                  .policy = session.policy,
                  .lineage = session.lineage,
                  .first = std::move(session.first)};
  if (session.written) out.baseline.written = session.written->usage;
  out.took_s = Seconds(Clock::now() - began).count();
  return std::move(out);
}

codec::Json to_json(const ProbeResult& probe) {
  using codec::Json;
  Json spoils = Json::array();
  for (const std::string& reading : probe.spoils) spoils.push(reading);
  return Json::object({{"name", probe.name},
                       {"verdict", to_string(probe.verdict)},
                       {"says", probe.says},
                       {"direction", probe.direction},
                       {"spoils", std::move(spoils)},
                       {"evidence", probe.evidence}});
}

codec::Json to_json(const Diagnosis& diagnosis) {
  using codec::Json;
  const Identity& who = diagnosis.identity;
  Json identity = Json::object({{"kind", who.kind},
                                {"address", who.address},
                                {"model", who.model},
                                {"root", Json::from(who.root)},
                                {"digest", Json::from(who.digest)},
                                {"build", Json::from(who.build)},
                                {"context", Json::from(who.context)},
                                {"template_sha256", Json::from(who.template_sha256)},
                                {"detail", Json::from(who.detail)}});
  Json probes = Json::array();
  for (const ProbeResult& probe : diagnosis.probes) probes.push(to_json(probe));
  Json readings = Json::array();
  for (const ReadingAdvice& reading : diagnosis.readings) {
    readings.push(Json::object({{"name", reading.name},
                                {"supported", reading.supported},
                                {"believed", reading.believed},
                                {"guesses", Json::from(reading.guesses)},
                                {"why", reading.why}}));
  }
  return Json::object({{"schema", "deem.doctor/1"},
                       {"seat", std::move(identity)},
                       {"probes", std::move(probes)},
                       {"readings", std::move(readings)},
                       {"interrupted", diagnosis.interrupted},
                       {"requests", diagnosis.requests},
                       {"took_s", diagnosis.took_s}});
}

}  // namespace deem::seat

// Whether a seat that was examined before a run is the same when its rows are there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/text.h"
#include "decision/question.h"
#include "seat/doctor/session.h"
#include "seat/give_up.h"

namespace deem::seat {
namespace {

using decision::LettersReading;

constexpr int kTimes = 4;  // alone, one after the other

std::string shown(std::string_view text) { return printable(text, 200); }

/// Likelihoods too: they are not asked again, and come from the same numbers.
void spoil_numbers(Probe& probe, std::string says) {
  probe.find(std::move(says), "false comfort", {"letters", "likelihood"});
}

bool holds(std::span<const std::string> readings, std::string_view name) {
  return std::ranges::find(readings, name) != readings.end();
}

bool was_found(const Diagnosis& before, std::string_view name) {
  const auto probe = std::ranges::find(before.probes, name, &ProbeResult::name);
  return probe != before.probes.end() && probe->verdict == ProbeResult::Verdict::Finding;
}

/// Whether a letter has another number than before: by its probability; deep down, where that says
/// nothing, by more than half a nat and a quarter of itself; or none where it was likely.
bool has_moved(const std::optional<double>& before, const std::optional<double>& now) {
  constexpr double kLikely = -4, kDeep = -12;
  const bool was = before && std::isfinite(*before), is = now && std::isfinite(*now);
  const double p = was ? std::exp(*before) : 0, q = is ? std::exp(*now) : 0;
  if (std::abs(p - q) > kDrift) return true;
  if (was && !is) return *before > kLikely;
  if (!was || !is || std::max(*before, *now) < kDeep) return false;
  return std::abs(*before - *now) > 0.5 + 0.25 * std::abs(*before);
}

/// Adds what moved between two readings of one prompt. `when`: "at the end", "4 in flight".
void compare(const LettersReading& before, const LettersReading& now, std::string_view when,
             Probe& probe) {
  if (is_numberless(now.cause) && !is_numberless(before.cause)) {
    return spoil_numbers(probe, fmt::format("{}: no numbers ({})", when, to_string(now.cause)));
  }
  for (std::size_t i = 0; i < now.logprobs.size(); ++i) {
    const auto &was = before.logprobs[i], &is = now.logprobs[i];
    if (!has_moved(was, is)) continue;
    const auto number = [](const auto& v) { return v ? fmt::format("{:.3f}", *v) : "none"; };
    return spoil_numbers(probe, fmt::format("{}: {} has the logprob {}, {} before", when,
                                            decision::letter(i), number(is), number(was)));
  }
}

/// How the list comes, how long it is, and what its own numbers tell that they did not before.
void compare_lists(const PositionReply& before, const PositionReply& now, Probe& probe) {
  if (now.shape != before.shape && !now.shape.empty()) {
    return spoil_numbers(probe, "the list of log-probabilities is now " + now.shape);
  }
  const std::size_t was = before.position.top.size(), is = now.position.top.size();
  // The written token may stand apart from those that were asked for.
  if (is + 1 < was) {
    return spoil_numbers(probe, fmt::format("{} entries come back, {} before", is, was));
  }
  const auto with_number = [](const PositionReply& reply) {
    return std::ranges::count_if(reply.position.exact, [](const auto& v) { return v.has_value(); });
  };
  if (with_number(now) < with_number(before)) {
    return spoil_numbers(probe, fmt::format("{} of the ids asked for come back, {} before",
                                            with_number(now), with_number(before)));
  }
  Probe then(""), again("");
  check_numbers(before, then);
  check_numbers(now, again);
  if (again.found() && !then.found()) spoil_numbers(probe, again.close().says);
}

void compare_counts(const Usage& before, const Usage& now, Probe& probe) {
  if (!before.prompt_tokens || !now.prompt_tokens || *before.prompt_tokens == *now.prompt_tokens)
    return;
  const bool fewer = *now.prompt_tokens < *before.prompt_tokens;
  probe.find(fmt::format("of one prompt {} tokens are run, {} before", *now.prompt_tokens,
                         *before.prompt_tokens),
             fewer ? "false comfort" : "false alarm", {"letters", "written"});
}

/// Adds what moved against any of `readings`, and the reading to them.
void compare_all(std::vector<LettersReading>& readings, const PositionReply& reply,
                 std::string_view when, Probe& probe) {
  const LettersReading now = read(reply);
  for (const LettersReading& before : readings) {
    if (!probe.found()) compare(before, now, when, probe);
  }
  readings.push_back(now);
}

/// Decisions of a crowd are unlike one another: each as it is alone.
void unlike_again(Session& session, Probe& probe) {
  constexpr int kMost = 4;
  const int n = std::min(session.options.crowd, kMost);
  for (const auto& [alone, beside] : session.ask_unlike(static_cast<std::size_t>(n))) {
    if (probe.found()) return;
    if (!alone || !beside) return probe.skip(shown((alone ? beside : alone).error().message));
    compare(read(*alone), read(*beside), fmt::format("{} unlike ones in flight", n), probe);
    if (!probe.found()) compare_counts(alone->usage, beside->usage, probe);
  }
}

/// The last time for more letters, where they are asked by id: one that is written comes back
/// whether its id is answered or not.
void letters_again(Session& session, const PositionReply& first, bool more_ids, Probe& probe) {
  std::vector<LettersReading> readings = {read(first)};
  for (int i = 0; i < kTimes && !probe.found(); ++i) {
    const bool last = i + 1 == kTimes;
    const auto reply =
        last && more_ids ? check_ids(session, probe) : session.ask(session.request(0));
    if (!reply) return probe.skip(shown(reply.error().message));
    if (!last || !more_ids) compare_lists(first, *reply, probe);
    compare_counts(first.usage, reply->usage, probe);
    compare_all(readings, *reply, "at the end", probe);
    session.first = *reply;
  }
  const int crowd = session.options.crowd;
  if (crowd > 1 && !probe.found()) {
    const std::vector<PositionRequest> requests(static_cast<std::size_t>(crowd),
                                                session.request(0));
    for (const auto& reply : session.ask_together(requests)) {
      if (!reply) {
        probe.skip(shown(reply.error().message));
      } else {
        compare_all(readings, *reply, fmt::format("{} in flight", crowd), probe);
      }
    }
    unlike_again(session, probe);
  }
  if (!probe.found()) probe.well("the first decision is read as before");
}

void written_again(Session& session, const Usage& first, Probe& probe) {
  ++session.out.requests;
  const auto reply =
      session.seat.write({.prompt = session.question(0), .max_tokens = 16}, session.schedule());
  if (!reply) return probe.skip(shown(reply.error().message));
  session.written = *reply;
  compare_counts(first, reply->usage, probe);
  if (!reply->thinking.empty()) {
    probe.find("thinking is not closed any more", "false comfort", {"letters", "written"});
  }
  if (!probe.found()) probe.well("a reply is written from as many tokens as before");
}

void native_again(Session& session, const std::vector<double>& first, Probe& probe) {
  for (int i = 0; i < kTimes + 1 && !probe.found(); ++i) {
    const bool together = i == kTimes;
    const auto times = static_cast<std::size_t>(together ? session.options.crowd : 1);
    if (together && times < 2) break;
    const NativeAgain again = ask_native_again(session, first, times);
    if (again.no_answer)
      return probe.find("no answer where there was one: " + again.failed, "false comfort",
                        {"native"});
    if (!again.failed.empty()) return probe.skip(again.failed);
    if (again.apart <= kDrift) continue;
    probe.find(
        fmt::format("{}: a probability moves by {:.2f}",
                    together ? fmt::format("{} in flight", times) : "at the end", again.apart),
        "false comfort", {"native"});
  }
  if (!probe.found()) probe.well("the first choice is answered as before");
}

}  // namespace

ProbeResult examine_again(Seat& seat, const Diagnosis& before,
                          std::span<const std::string> readings, const DoctorOptions& options,
                          int& requests, const std::stop_token& stop) {
  const GiveUp on_stop(stop, seat);
  const Baseline& baseline = before.baseline;
  DoctorOptions same = options;
  same.nonce = baseline.nonce;
  Session session(seat, same, stop);
  session.out.identity = before.identity;
  session.out.capabilities = before.capabilities;
  session.lineage = baseline.lineage;
  session.policy = baseline.policy;
  Probe probe(kAgain);
  const bool native = is_native_kind(before.identity.kind);
  if (native && !baseline.native.empty()) native_again(session, baseline.native, probe);
  if (baseline.first && (holds(readings, "letters") || holds(readings, "likelihood")))
    letters_again(session, *baseline.first, reads_ids(session.can()) && !was_found(before, "depth"),
                  probe);
  if (baseline.written && holds(readings, "written"))
    written_again(session, *baseline.written, probe);
  if (!was_found(before, "identity")) {
    check_served(session, probe);
    if (const auto lineage = seat.lineage()) check_digest(*lineage, probe);
  }
  if (const std::string changed = identity_changes(seat, before.identity); !changed.empty()) {
    probe.find("it changed since: " + changed, "false comfort",
               {"letters", "likelihood", "written"});
  }
  if (session.out.requests == 0) probe.skip("there is no answer to hold it against");
  requests += session.out.requests;
  if (stop.stop_requested()) return not_measured(kAgain, "interrupted");
  ProbeResult out = probe.close();
  if (native && !out.spoils.empty()) out.spoils = {"native"};
  return out;
}

}  // namespace deem::seat

// How many entries come back, and what their numbers are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "decision/question.h"
#include "seat/doctor/session.h"

namespace deem::seat {
namespace {

using decision::LetterPolicy;
using decision::TokenScore;
using decision::VoidCause;
using Letters = Capabilities::Letters;

constexpr double kSentinel = -9999;  // what vLLM writes for −∞

std::string shown(std::string_view token) { return "\"" + printable(token, 30) + "\""; }

/// Asks for `k` entries and counts them.
void check_entries(Session& session, int k, Probe& probe) {
  PositionRequest request = session.request(0, LetterPolicy::Reference);
  request.top_k = k;
  const auto reply = session.ask(request);
  if (!reply) {
    return probe.skip(fmt::format("{} entries: {}", k, printable(reply.error().message, 160)));
  }
  const std::size_t came = reply->position.top.size();
  const int asked = reply->position.asked_k;
  if (came == 0) return probe.skip(fmt::format("{} entries: none came", asked));
  if (static_cast<int>(came) < asked) {
    return probe.find(fmt::format("{} entries asked, {} came", asked, came), "false comfort",
                      {"letters"});
  }
  probe.well(fmt::format("{} entries asked, {} came", asked, came));
}

/// What the numbers of one list may be, by their range and sums.
struct Sums {
  double natural = 0, two = 0, ten = 0, plain = 0;
  double highest = -1e300, lowest = 1e300;
  std::size_t numbers = 0;
};
Sums sums_of(const std::vector<TokenScore>& entries) {
  Sums out;
  for (const TokenScore& entry : entries) {
    if (!entry.logprob || !std::isfinite(*entry.logprob) || *entry.logprob <= -9999) continue;
    const double v = *entry.logprob;
    out.natural += std::exp(v);
    out.two += std::exp2(v);
    out.ten += std::pow(10.0, v);
    out.plain += v;
    out.highest = std::max(out.highest, v);
    out.lowest = std::min(out.lowest, v);
    ++out.numbers;
  }
  return out;
}

void spoil(Probe& probe, std::string says) {
  probe.find(std::move(says), "false comfort", {"letters", "likelihood"});
}

/// Natural logarithms of probabilities, or something else. `whole`: the entries are every token.
void check_unit(const std::vector<TokenScore>& entries, bool whole, Probe& probe) {
  const Sums sums = sums_of(entries);
  if (sums.numbers == 0) return;
  probe.note("entries", static_cast<std::int64_t>(sums.numbers));
  probe.note("sum", sums.natural);
  // A reading is void over 1 + kSlack; a quarter of a million printed numbers sum to 1.0007.
  constexpr double kOff = 0.01, kSlack = 1e-3;
  const auto is_one = [&](double sum) { return std::abs(sum - 1) < kOff; };
  if (sums.numbers > 1 && sums.highest == 0 && sums.lowest == 0) {
    return spoil(probe, "every number is 0");
  }
  if (sums.highest > 1e-6 && sums.lowest >= 0 && sums.plain < 1 + kOff) {
    return spoil(probe, "the numbers are probabilities, not their logarithms");
  }
  if (sums.highest > 1e-6) {
    return spoil(probe, fmt::format("a number above 0 ({:.2f}): no log-probabilities (logits?)",
                                    sums.highest));
  }
  if (sums.natural > 1 + (whole ? kOff : kSlack)) {
    const bool ten = whole ? is_one(sums.ten) : sums.ten < 1 + kOff && sums.numbers > 2;
    return spoil(
        probe, fmt::format("{} probabilities sum to {:.3f}{}", sums.numbers, sums.natural,
                           ten && sums.highest < -1e-6 ? " (logarithms to the base of 10?)" : ""));
  }
  if (whole && !is_one(sums.natural)) {
    return spoil(
        probe, fmt::format("all {} tokens together have {:.3f} of the probability{}", sums.numbers,
                           sums.natural, is_one(sums.two) ? " (logarithms to the base of 2)" : ""));
  }
  probe.well(fmt::format("{} entries sum to {:.4f}", sums.numbers, sums.natural));
}

/// The causes that lie in the numbers themselves; whether there are numbers to look at still.
bool check_cause(const PositionReply& reply, Probe& probe) {
  const char* instead = nullptr;
  switch (read(reply).cause) {
    case VoidCause::AllZeroLogprobs:
      spoil(probe, "every number is 0");
      return false;
    case VoidCause::SentinelLogprob:
      instead = "-9999";
      break;
    case VoidCause::NotANumber:
      instead = "NaN";
      break;
    case VoidCause::NotFinite:
      instead = "infinity";
      break;
    default:
      return true;
  }
  spoil(probe, std::string(instead) + " stands where a number should be");
  return true;
}

/// Letters that are listed and have no number.
void check_gaps(const PositionReply& reply, Probe& probe) {
  const auto& position = reply.position;
  const auto& sampled = position.sampled;
  if (sampled && !sampled->logprob) {
    spoil(probe, "the written token " + shown(sampled->token) + " has no number");
  }
  const auto padded = std::ranges::count_if(
      position.top, [](const TokenScore& entry) { return entry.logprob == kSentinel; });
  if (padded > 0 && read(reply).cause != VoidCause::SentinelLogprob)
    spoil(probe, fmt::format("-9999 stands for the numbers of {} of {} entries", padded,
                             position.top.size()));
  const auto gaps = std::ranges::count_if(position.top, [](const TokenScore& entry) {
    return !entry.logprob && entry.token.size() == 1 &&
           decision::letter_index(entry.token[0], Session::kLetters);
  });
  if (gaps > 0) {
    spoil(probe, fmt::format("{} letters are listed without a number (null or -Infinity)", gaps));
  }
}

bool is_same(const TokenScore& a, const TokenScore& b) {
  return a.id && b.id ? *a.id == *b.id : a.token == b.token;
}

/// The written token must be in its own list, with the same number, and lead it at temperature 0.
void check_sampled(const PositionReply& reply, Probe& probe) {
  const auto& sampled = reply.position.sampled;
  const auto& top = reply.position.top;
  if (!sampled || !sampled->logprob || top.empty() || !std::isfinite(*sampled->logprob)) return;
  if (*sampled->logprob <= -9999) return;
  const auto own =
      std::ranges::find_if(top, [&](const TokenScore& entry) { return is_same(entry, *sampled); });
  if (own == top.end()) {
    return spoil(probe, "the written token " + shown(sampled->token) + " is not in its own list");
  }
  constexpr double kOff = 1e-3;
  if (own->logprob && std::abs(*own->logprob - *sampled->logprob) > kOff) {
    spoil(probe, fmt::format("the written token {} has {:.4f}, and {:.4f} in its own list",
                             shown(sampled->token), *sampled->logprob, *own->logprob));
  }
  const auto best = std::ranges::max_element(
      top, {}, [](const TokenScore& entry) { return entry.logprob.value_or(-1e9); });
  if (best->logprob.value_or(-1e9) > *sampled->logprob + kOff && !is_same(*best, *sampled) &&
      own->logprob && *best->logprob > *own->logprob + kOff) {
    return spoil(probe, "at temperature 0 it wrote " + shown(sampled->token) + ", " +
                            shown(best->token) + " is likelier");
  }
  probe.well("the written token leads its list");
}

const TokenScore* find_same(const std::vector<TokenScore>& entries, const TokenScore& wanted) {
  const auto found = std::ranges::find_if(
      entries, [&](const TokenScore& entry) { return is_same(entry, wanted); });
  return found == entries.end() ? nullptr : &*found;
}

bool has_number(const TokenScore& entry) {
  return entry.logprob && std::isfinite(*entry.logprob) && *entry.logprob > -9999;
}

/// Whether a list moves with the sampler's temperature, by more than readings differ anyway. A list
/// by ids holds what was asked and the written token, which may be another one.
bool moves(const Session& session, const decision::FirstPosition& at_zero,
           const decision::FirstPosition& other) {
  double usual = 0;
  for (const double nats : session.noise) usual = std::max(usual, nats);
  int gone = 0;
  for (const TokenScore& entry : other.top) {
    const TokenScore* before = find_same(at_zero.top, entry);
    if (before == nullptr || !has_number(entry)) continue;
    if (!has_number(*before)) {
      ++gone;
      continue;
    }
    const double slack = std::max(0.3, 0.1 * std::abs(*before->logprob));
    if (std::abs(*before->logprob - *entry.logprob) > slack + 2 * usual) return true;
  }
  constexpr int kGone = 3;
  return gone >= kGone;
}

void check_temperature(Session& session, Probe& probe) {
  const decision::FirstPosition& at_zero = session.first->position;
  std::string moved;
  for (const double temperature : {1.0, 2.0}) {
    PositionRequest request = session.request(0);
    request.temperature = temperature;
    const auto reply = session.try_ask(request);  // some take no temperature, or none over 1
    if (!reply) return probe.skip("raw or processed: " + printable(reply.error().message, 160));
    if (moves(session, at_zero, reply->position))
      moved += fmt::format("{}{:g}", moved.empty() ? "" : " and ", temperature);
  }
  probe.note("moves_at_temperature", moved);
  if (moved.empty()) return probe.well("raw: the same at temperatures 0, 1 and 2");
  probe.find("processed: other numbers at temperature " + moved + " than at 0", "false comfort",
             {"letters"});
}

/// The longest list there is to be had: the whole vocabulary where the seat can.
void check_list(Session& session, Probe& probe) {
  constexpr int kAll = 1 << 20;
  if (session.can().letters != Letters::FullVocabulary) {
    return check_unit(session.first->position.top, false, probe);
  }
  PositionRequest request = session.request(0);
  request.top_k = kAll;
  const auto reply = session.ask(request);
  if (!reply) return check_unit(session.first->position.top, false, probe);
  check_unit(reply->position.top, true, probe);
}

}  // namespace

Result<PositionReply> check_ids(Session& session, Probe& probe) {
  constexpr std::size_t kAsked = 26;
  PositionRequest request = session.request(0);
  request.letters = kAsked;
  auto reply = session.ask(request);
  if (!reply) {
    probe.skip("26 ids: " + printable(reply.error().message, 160));
    return reply;
  }
  const auto& exact = reply->position.exact;
  std::string missing;
  for (std::size_t i = 0; i < kAsked; ++i) {
    if (i >= exact.size() || !exact[i]) missing += decision::letter(i);
  }
  probe.note("ids_asked", static_cast<std::int64_t>(kAsked));
  probe.note("ids_back", static_cast<std::int64_t>(kAsked - missing.size()));
  if (missing.size() == kAsked) {
    probe.skip("26 ids: none came back with a number");
  } else if (!missing.empty()) {
    probe.find("of 26 ids asked " + std::to_string(missing.size()) +
                   " did not come back with a number: " + missing,
               "false comfort", {"letters"});
  } else {
    probe.well("26 ids asked, 26 came back");
  }
  return reply;
}

bool reads_ids(const Capabilities& can) {
  return can.letters == Letters::ExactIds || can.letters == Letters::FullVocabulary;
}

void check_numbers(const PositionReply& reply, Probe& probe) {
  if (!check_cause(reply, probe)) return;
  check_gaps(reply, probe);
  check_sampled(reply, probe);
  check_unit(reply.position.top, false, probe);
}

ProbeResult probe_depth(Session& session) {
  if (!session.no_answers.empty()) return not_measured("depth", session.no_answers);
  Probe probe("depth");
  if (!session.out.capabilities) return not_measured("depth", session.no_letters);
  const Capabilities& can = *session.out.capabilities;
  if (can.asked_k > can.top_k && can.top_k > 0) {
    probe.find(fmt::format("{} entries asked, {} came: reduced silently", can.asked_k, can.top_k),
               "false comfort", {"letters"});
  }
  if (reads_ids(can)) {
    (void)check_ids(session, probe);
  } else if (can.letters == Letters::None) {
    probe.skip(can.letters_note.empty() ? "it returns no logprobs"
                                        : printable(can.letters_note, 200));
  }
  for (const int k : {20, 5}) {
    if (session.first && !probe.found()) check_entries(session, k, probe);
    if (can.letters == Letters::TopK && can.top_k <= 5) break;
  }
  if (can.letters == Letters::TopK) probe.well(fmt::format("top {} at most", can.top_k));
  return probe.close();
}

ProbeResult probe_logprobs(Session& session) {
  if (!session.first) return not_measured("logprobs", session.no_reading());
  Probe probe("logprobs");
  if (!session.first->position.logprobs_present) {
    return not_measured("logprobs", "no list came: " + session.first->shape);
  }
  if (check_cause(*session.first, probe)) {
    check_gaps(*session.first, probe);
    check_sampled(*session.first, probe);
    check_list(session, probe);
  }
  check_temperature(session, probe);
  return probe.close();
}

}  // namespace deem::seat

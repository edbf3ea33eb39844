// Whether a reading is the same again: alone, in a crowd, beside requests of another kind, after a
// prefix was kept, and behind drafted tokens.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "seat/doctor/session.h"

namespace deem::seat {
namespace {

using decision::FirstPosition;
using decision::LetterPolicy;
using decision::LettersReading;
using decision::VoidCause;
using Letters = Capabilities::Letters;

constexpr std::size_t kRepeated = 1;  // the question of `repeat`
constexpr std::size_t kCached = 2;    // of `prefix-cache`

std::string shown(Difference d) {
  return fmt::format("{:.4f} nat (p {:.4f})", d.nats, d.probability);
}

void widen(Difference& to, Difference by) {
  to.nats = std::max(to.nats, by.nats);
  to.probability = std::max(to.probability, by.probability);
}

/// Readings of one prompt compared with the first of them that is none of the void ones.
struct Compared {
  Difference most;
  std::size_t read = 0, failed = 0, odd = 0;  // odd: no numbers where the reference has them
  std::size_t put_off = 0;
  std::string why;  // of the first failed or odd one
};

void compare(const LettersReading& reference, const Result<PositionReply>& reply, Compared& out,
             Session& session) {
  if (!reply && is_put_off(reply.error())) {
    ++out.put_off;
    return;
  }
  if (!reply) {
    ++out.failed;
    if (out.why.empty()) out.why = printable(reply.error().message, 160);
    return;
  }
  const LettersReading reading = read(*reply);
  ++out.read;
  if (is_numberless(reading.cause) && !is_numberless(reference.cause)) {
    ++out.odd;
    if (out.why.empty()) out.why = to_string(reading.cause);
  }
  widen(out.most, difference(reference, reading));
  const auto nats = differences(reference, reading);
  session.noise.resize(std::max(session.noise.size(), nats.size()));
  for (std::size_t i = 0; i < nats.size(); ++i)
    session.noise[i] = std::max(session.noise[i], nats[i]);
}

/// Adds one comparison to a probe. `what`: "again", "in a crowd of 8".
void judge(const Compared& compared, std::string_view what, Probe& probe) {
  const std::size_t asked = compared.read + compared.failed;
  if (compared.failed > 0) {
    probe.find(
        fmt::format("{}: {} of {} not answered ({})", what, compared.failed, asked, compared.why),
        "false alarm", {"letters"});
  } else if (compared.odd > 0) {
    probe.find(
        fmt::format("{}: {} of {} have no numbers ({})", what, compared.odd, asked, compared.why),
        "false comfort", {"letters"});
  } else if (compared.most.probability > kDrift) {
    probe.find(fmt::format("{}: {} apart", what, shown(compared.most)), "false comfort",
               {"letters"});
  } else if (compared.read > 0) {
    probe.well(fmt::format("{}: within {}", what, shown(compared.most)));
  }
  if (compared.put_off > 0) {
    probe.skip(fmt::format("{}: {} put off as too many (HTTP 429)", what, compared.put_off));
  }
}

/// Each of several questions beside the others as alone: a server that mixes up its replies gives
/// another's.
void check_unlike(Session& session, Probe& probe) {
  const auto n = static_cast<std::size_t>(session.options.crowd);
  if (n < 2 || session.is_hung()) return;
  Compared unlike;
  std::size_t counts = 0;
  for (const auto& [alone, beside] : session.ask_unlike(n)) {
    if (!alone) return probe.skip("unlike ones: " + printable(alone.error().message, 160));
    compare(read(*alone), beside, unlike, session);
    if (beside && beside->usage.prompt_tokens != alone->usage.prompt_tokens) ++counts;
  }
  const std::string what = fmt::format("{} unlike ones in flight", n);
  judge(unlike, what, probe);
  probe.note("unlike_nats", unlike.most.nats);
  if (counts > 0) {
    probe.find(fmt::format("{}: {} of them have another count of tokens than alone", what, counts),
               "false comfort", {"letters", "written"});
  }
}

void check_likelihood(Session& session, Probe& probe) {
  if (!session.can().likelihood) return;
  const LikelihoodRequest request{
      .given = session.question(kRepeated) + "\nThe capital of France is", .score = " Paris"};
  std::vector<double> sums;
  for (int i = 0; i < 2; ++i) {
    ++session.out.requests;
    const auto reply = session.seat.likelihood(request, session.schedule());
    if (!reply) {
      return probe.find("a likelihood is not answered: " + printable(reply.error().message, 160),
                        "false alarm", {"likelihood"});
    }
    sums.push_back(reply->text.sum);
  }
  const double apart = std::abs(sums[0] - sums[1]);
  probe.note("likelihood_apart", apart);
  if (!std::isfinite(sums[0]) || !std::isfinite(sums[1])) {
    probe.find(fmt::format("the log-likelihood of a text is {}, no number", sums[0]),
               "false comfort", {"likelihood"});
  } else if (sums[0] > 0 || sums[1] > 0) {
    probe.find(fmt::format("the log-likelihood of a text is {:.3f}, above 0", sums[0]),
               "false comfort", {"likelihood"});
  } else if (apart > 1 || std::abs(std::exp(sums[0]) - std::exp(sums[1])) > kDrift) {
    probe.find(fmt::format("a likelihood: {:.4f} nat apart", apart), "false comfort",
               {"likelihood"});
  } else {
    probe.well(fmt::format("a likelihood: within {:.4f} nat", apart));
  }
}

/// Cached tokens of a reply, where told.
std::int64_t cached(const PositionReply& reply) { return reply.usage.cached_tokens.value_or(0); }

std::string acceptance(const Counters& before, const Counters& after) {
  if (!before.draft_tokens || !after.draft_tokens || !before.accepted_tokens ||
      !after.accepted_tokens) {
    return "";
  }
  const double drafted = *after.draft_tokens - *before.draft_tokens;
  const double accepted = *after.accepted_tokens - *before.accepted_tokens;
  if (!(drafted > 0)) return fmt::format("{:.0f} tokens drafted so far", *after.draft_tokens);
  return fmt::format("{:.0f} of {:.0f} drafted tokens accepted", accepted, drafted);
}

/// Whether a position tells nothing: no list, or nothing but zeros.
bool is_blank(const FirstPosition& position) {
  const bool numbers = std::ranges::any_of(
      position.top, [](const auto& entry) { return entry.logprob && *entry.logprob != 0.0; });
  return !numbers;
}

void check_positions(Session& session, Probe& probe) {
  constexpr int kTokens = 6;
  const WriteRequest request{.prompt = "Count from one to twenty, in words.",
                             .max_tokens = kTokens};
  ++session.out.requests;
  const auto positions = session.seat.positions(request, 5, session.schedule());
  if (!positions) {
    return probe.skip("later positions: " + printable(positions.error().message, 160));
  }
  if (positions->size() < 2) return probe.skip("later positions: the reply had but one token");
  const auto blank = std::count_if(positions->begin() + 1, positions->end(), is_blank);
  const auto later = positions->size() - 1;
  probe.note("later_positions", static_cast<std::int64_t>(later));
  probe.note("later_blank", static_cast<std::int64_t>(blank));
  if (blank > 0) {
    probe.find(fmt::format("{} of {} positions after the first have 0.0 or no list: only position "
                           "0 can be read",
                           blank, later),
               "false comfort", {});
  } else {
    probe.well(fmt::format("{} positions after the first have their lists", later));
  }
}

}  // namespace

ProbeResult probe_repeat(Session& session) {
  if (!session.first) return not_measured("repeat", session.no_reading());
  Probe probe("repeat");
  const auto first = session.ask(session.request(kRepeated));  // not seen before: cold
  if (!first) return not_measured("repeat", printable(first.error().message, 200));
  const LettersReading cold = read(*first);
  if (!first->position.logprobs_present) return not_measured("repeat", "no list came");
  Compared again, crowd;
  std::optional<LettersReading> warm;
  for (int i = 0; i < 4; ++i) {
    const auto reply = session.ask(session.request(kRepeated));
    compare(warm.value_or(cold), reply, again, session);
    if (reply && !warm) warm = read(*reply);
  }
  judge(again, "5 times", probe);
  probe.note("again_nats", again.most.nats);
  const std::vector<PositionRequest> requests(
      static_cast<std::size_t>(std::max(1, session.options.crowd)), session.request(kRepeated));
  for (const auto& reply : session.ask_together(requests)) {
    compare(warm.value_or(cold), reply, crowd, session);
  }
  judge(crowd, fmt::format("{} in flight", requests.size()), probe);
  probe.note("crowd_nats", crowd.most.nats);
  check_unlike(session, probe);
  check_likelihood(session, probe);
  return probe.close();
}

ProbeResult probe_mixed(Session& session) {
  if (!session.first) return not_measured("mixed", session.no_reading());
  const Letters letters = session.can().letters;
  if (letters != Letters::ExactIds && letters != Letters::FullVocabulary) {
    return not_measured("mixed", "there is one kind of request here: the top k");
  }
  Probe probe("mixed");
  const LetterPolicy kinds[] = {LetterPolicy::Exact, LetterPolicy::Reference};
  std::vector<LettersReading> alone;
  for (const LetterPolicy kind : kinds) {
    const auto reply = session.ask(session.request(0, kind));
    if (!reply) return not_measured("mixed", printable(reply.error().message, 200));
    alone.push_back(read(*reply));
  }
  std::vector<PositionRequest> requests;
  for (int i = 0; i < std::max(2, session.options.crowd); ++i)
    requests.push_back(session.request(0, kinds[i % 2]));
  Compared by_ids, by_top;
  for (int round = 0; round < 2; ++round) {
    const auto replies = session.ask_together(requests);
    for (std::size_t i = 0; i < replies.size(); ++i)
      compare(alone[i % 2], replies[i], i % 2 == 0 ? by_ids : by_top, session);
  }
  judge(by_ids, "exact ids beside top k", probe);
  judge(by_top, "top k beside exact ids", probe);
  return probe.close();
}

ProbeResult probe_prefix_cache(Session& session) {
  if (!session.first) return not_measured("prefix-cache", session.no_reading());
  Probe probe("prefix-cache");
  const auto before = session.seat.counters();
  const auto cold = session.ask(session.request(kCached));
  const auto warm = session.ask(session.request(kCached));
  const auto after = session.seat.counters();
  if (!cold || !warm || !cold->position.logprobs_present || !warm->position.logprobs_present) {
    return not_measured("prefix-cache", "no two readings of one prompt");
  }
  const Difference apart = difference(read(*cold), read(*warm));
  probe.note("apart_nats", apart.nats);
  probe.note("cached_tokens", codec::Json::from(warm->usage.cached_tokens));
  std::string hits;
  if (cached(*warm) > cached(*cold)) {
    hits =
        fmt::format("{} tokens kept the second time, {} the first", cached(*warm), cached(*cold));
  } else if (before && after && before->cache_hits && after->cache_hits &&
             *after->cache_hits > *before->cache_hits) {
    hits =
        fmt::format("{:.0f} tokens kept by its counters", *after->cache_hits - *before->cache_hits);
  }
  if (apart.probability > kDrift) {
    probe.find("a prompt seen before reads " + shown(apart) + " apart", "false comfort",
               {"letters"});
  } else if (!hits.empty()) {
    probe.well(hits + "; values within " + shown(apart));
  } else {
    probe.skip("no hits are told; values within " + shown(apart));
  }
  return probe.close();
}

ProbeResult probe_speculation(Session& session) {
  if (!session.no_answers.empty()) return not_measured("speculation", session.no_answers);
  Probe probe("speculation");
  const auto before = session.seat.counters();
  if (!before || !before->speculates) {
    probe.skip("whether tokens are drafted: " +
               (before ? std::string("not told") : printable(before.error().message, 160)));
  }
  const bool on = before && before->speculates.value_or(false);
  if (before) probe.note("speculates", codec::Json::from(before->speculates));
  if (session.no_letters.empty()) check_positions(session, probe);
  if (on) {
    const auto after = session.seat.counters();
    const std::string rate = after ? acceptance(*before, *after) : "";
    probe.advise("drafts are on" + (rate.empty() ? "" : ": " + rate));
    if (session.first) {
      // The checks of the numbers again, now that drafts were made.
      const auto reply = session.ask(session.request(0));
      Compared again;
      compare(read(*session.first), reply, again, session);
      judge(again, "position 0 after drafts", probe);
    } else {
      probe.skip("position 0 after drafts: " + session.no_reading());
    }
  } else if (before && before->speculates) {
    probe.well("off");
  }
  return probe.close();
}

}  // namespace deem::seat

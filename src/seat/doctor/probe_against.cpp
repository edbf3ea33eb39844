// A decision endpoint against our own letters readout of a plain seat, on the same questions.
#include <fmt/format.h>

#include "base/text.h"
#include "decision/layout.h"
#include "seat/doctor/against.h"
#include "seat/doctor/session.h"
#include "seat/give_up.h"

namespace deem::seat {
namespace {

constexpr std::size_t kItems = std::size(kSanityItems);
using Numbers = AgainstItem::Numbers;

std::vector<Numbers> ask_native(Session& session) {
  std::vector<Numbers> out(kItems);
  session.each_of(kItems, [&](std::size_t i) {
    const DecideRequest::Question asked{.id = "q1", .question = kSanityItems[i].asked()};
    const DecideRequest request{.state = std::string(kSanityItems[i].state), .questions = {asked}};
    const auto reply = session.seat.decide(request, session.crowd_schedule());
    if (!reply) session.missed(reply.error());
    auto probs = native_probs_of(reply, asked);
    if (probs) out[i] = std::move(*probs);
  });
  session.out.requests += static_cast<int>(kItems);
  return out;
}

std::vector<Numbers> ask_letters(Session& session) {
  const decision::Layout layout = decision::reference_layout();
  std::vector<Session::Group> groups(kItems);
  for (std::size_t i = 0; i < kItems; ++i) {
    const decision::Question question = kSanityItems[i].asked();
    groups[i].push_back({.prompt = decision::render_letters(layout, kSanityItems[i].state, question,
                                                            question.options),
                         .letters = question.options.size(),
                         .policy = session.policy});
  }
  const auto replies = session.ask_groups(groups);
  std::vector<Numbers> out(kItems);
  for (std::size_t i = 0; i < kItems; ++i) {
    if (!replies[i][0]) continue;
    const auto reading = decision::read_letters(replies[i][0]->position, kSanityItems[i].size, {});
    if (reading.cause == decision::VoidCause::None)
      out[i] = decision::fill_missing(reading, session.policy).logprobs;
  }
  return out;
}

void note(const AgainstFigures& f, const Identity& plain, Probe& probe) {
  const auto count = [&](std::string_view name, std::size_t value) {
    probe.note(name, static_cast<std::int64_t>(value));
  };
  probe.note("seat", plain.kind + ":" + plain.address);
  probe.note("model", plain.model);
  count("n", f.n);
  count("native_right", f.native_right);
  count("letters_right", f.letters_right);
  count("native_alone", f.native_alone);
  count("letters_alone", f.letters_alone);
  probe.note("difference", f.difference);
  probe.note("difference_low", f.interval.first);
  probe.note("difference_high", f.interval.second);
  probe.note("p_right", f.p_right);
  count("differ", f.differ);
  count("wavers", f.wavers);
  probe.note("p_differ", f.p_differ);
  probe.note("mean", f.mean);
  probe.note("max", f.max);
  probe.note("noise", f.noise);
  count("apart", f.apart);
  probe.note("temperature", f.temperature);
  probe.note("mean_at_temperature", f.mean_at_temperature);
}

}  // namespace

ProbeResult probe_against(Session& session) {
  constexpr std::string_view kName = "against";
  Session plain(*session.options.against, session.options, session.stop);
  const GiveUp on_stop(session.stop, plain.seat);
  auto who = plain.seat.identify();
  if (!who) return not_measured(kName, "the other seat: " + printable(who.error().message, 200));
  plain.out.identity = std::move(*who);
  probe_answers(plain);
  const auto can = plain.seat.capabilities();
  std::string why = plain.no_reading();
  if (why.empty() && !can) why = printable(can.error().message, 200);
  if (why.empty() && can->letters == Capabilities::Letters::None) {
    why = can->letters_note.empty() ? "no logprobs" : printable(can->letters_note, 200);
  }
  if (!why.empty()) return not_measured(kName, "the other seat reads no letters: " + why);
  const auto native = ask_native(session), letters = ask_letters(plain);
  const auto native_again = ask_native(session), letters_again = ask_letters(plain);
  session.out.requests += plain.out.requests;
  std::vector<AgainstItem> items;
  for (std::size_t i = 0; i < kItems; ++i) {
    items.push_back({.label = kSanityItems[i].label,
                     .native = native[i],
                     .native_again = native_again[i],
                     .letters = letters[i],
                     .letters_again = letters_again[i]});
  }
  const AgainstFigures f = hold_against(items);
  if (2 * f.n < kItems) {
    const std::string failed =
        plain.failures.empty() ? "" : "; the other seat: " + printable(plain.failures.front(), 160);
    return not_measured(
        kName, fmt::format("{} of {} questions are answered by both{}", f.n, kItems, failed));
  }
  Probe probe(kName);
  const std::string right = fmt::format(
      "right on {} of {}, our letters on {}: {:+.2f} [{:+.2f}, {:+.2f}], p {:.3f}", f.native_right,
      f.n, f.letters_right, f.difference, f.interval.first, f.interval.second, f.p_right);
  const std::string other = fmt::format("{} of {} answers differ", f.differ, f.n);
  if (f.p_right <= kShown && f.difference < 0) {
    probe.find(right, "false alarm", {"native"});
  } else if (f.p_right <= kShown) {
    probe.find(right, "", {});
  }
  if (!probe.found()) probe.well(right);
  // It may prompt otherwise, or average orders, and be well: no finding.
  probe.advise(f.p_differ <= kShown
                   ? fmt::format("{}, more than the {} that waver explain (p {:.3f})", other,
                                 f.wavers, f.p_differ)
                   : other);
  probe.advise(
      fmt::format("probabilities are {:.3f} apart on average, {:.3f} at most ({:.3f} when "
                  "asked again), {:.3f} with our letters at a temperature of {:.2f}",
                  f.mean, f.max, f.noise, f.mean_at_temperature, f.temperature));
  note(f, plain.out.identity, probe);
  return probe.close();
}

}  // namespace deem::seat

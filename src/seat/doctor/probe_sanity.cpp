// Two dozen questions that most models get right, by every reading the seat supports.
#include <fmt/format.h>

#include <algorithm>

#include "seat/doctor/sanity_readings.h"

namespace deem::seat {
namespace {

using decision::Question;
using Standing = SanityFigures::Standing;

constexpr std::size_t kItems = std::size(kSanityItems);

codec::Json to_json(const SanityFigures& one) {
  return codec::Json::object({{"name", one.name},
                              {"n", static_cast<std::int64_t>(one.answered)},
                              {"right", static_cast<std::int64_t>(one.right)},
                              {"low", one.low},
                              {"high", one.high},
                              {"guessing", one.guessing},
                              {"chance", one.chance}});
}

}  // namespace

Question rotated(const SanityItem& item, std::size_t shift) {
  Question out = item.asked();
  std::ranges::rotate(out.options, out.options.begin() + static_cast<std::ptrdiff_t>(shift));
  return out;
}

std::string_view family_of(std::string_view name) {
  return name.starts_with("letters") ? "letters" : name.starts_with("cloze") ? "likelihood" : name;
}

std::string shown(const SanityFigures& one) {
  std::string out = fmt::format("{} of {} right", one.right, one.answered);
  if (one.standing() == Standing::TooFew) return out;
  out += fmt::format(", {:.2f} [{:.2f}, {:.2f}]", one.share(), one.low, one.high);
  return one.standing() == Standing::Guessing ? out + ", like guessing" : out;
}

void add_sanity(const Session& session, ReadingAdvice& advice) {
  const SanityFigures* best = nullptr;
  bool above = false;
  std::optional<std::size_t> answered;
  for (const SanityFigures& one : session.sane) {
    if (family_of(one.name) != advice.name) continue;
    answered = std::max(answered.value_or(0), one.answered);
    if (one.standing() == Standing::TooFew) continue;
    above |= one.standing() == Standing::Above;
    if (best == nullptr || one.right > best->right) best = &one;
  }
  if (best == nullptr) {
    if (!answered || !advice.believed) return;
    advice.believed = false;
    advice.why = fmt::format("answers {} of {} easy questions", *answered, kItems);
    return;
  }
  advice.guesses = !above;
  if (!advice.believed) return;
  advice.why += "; " + (best->name == advice.name ? "" : best->name + " ") + shown(*best);
}

void tell_places(const Places& places, Probe& probe) {
  const auto [name, taken] = places.most();
  if (const std::string stuck = places.stuck(); !stuck.empty()) {
    probe.advise(fmt::format("stuck on the {} option: taken in {} of {} prompts", stuck,
                             taken.times, taken.prompts));
  }
  if (places.flips > 0) {
    probe.advise(
        fmt::format("the order of options changes {} of {} answers", places.flips, places.items));
  }
  probe.note("place", name);
  probe.note("place_taken", static_cast<std::int64_t>(taken.times));
  probe.note("place_prompts", static_cast<std::int64_t>(taken.prompts));
  probe.note("flips", static_cast<std::int64_t>(places.flips));
  probe.note("flips_n", static_cast<std::int64_t>(places.items));
}

void tell_sanity(std::span<const SanityAnswers> readings, Session& session, Probe& probe) {
  std::string all;
  bool any = false, above = false, few = false;
  codec::Json figures = codec::Json::array();
  for (const SanityAnswers& reading : readings) {
    const SanityFigures one = figures_of(reading);
    session.sane.push_back(one);
    figures.push(to_json(one));
    all += (all.empty() ? "" : "; ") + one.name + " " + shown(one);
    few |= one.standing() == Standing::TooFew;
    any |= one.standing() != Standing::TooFew;
    above |= one.standing() == Standing::Above;
  }
  probe.note("readings", std::move(figures));
  if (!any) {
    probe.skip("no reading answers half of the questions: " + all);
    return;
  }
  if (!above) {
    probe.find(std::string("answers like guessing by every reading") +
                   (few ? " that answers half of them" : "") +
                   ": the weights, the template or the readout are "
                   "broken, or the model is too weak: " +
                   all,
               "false alarm", {});
    for (const SanityFigures& one : session.sane) {
      if (one.standing() == Standing::Guessing) probe.spoil(family_of(one.name));
    }
    return;
  }
  probe.well(all);
  const auto lead = lead_of(readings);
  if (!lead || readings.size() < 2) return;
  std::string over;
  codec::Json better = codec::Json::array();
  for (const auto& other : lead->over) {
    better.push(codec::Json::object(
        {{"name", other.name}, {"difference", other.difference}, {"p", other.p}}));
    if (other.p <= kShown && other.difference > 0)
      over += fmt::format("{}{} (+{:.2f}, p {:.3f})", over.empty() ? "" : ", ", other.name,
                          other.difference, other.p);
  }
  probe.well(over.empty() ? "none is shown to read better than the others"
                          : lead->best + " reads best, shown better than " + over);
  probe.note("best", lead->best);
  probe.note("best_over", std::move(better));
}

ProbeResult probe_sanity(Session& session) {
  if (!session.no_answers.empty()) return not_measured("sanity", session.no_answers);
  Probe probe("sanity");
  std::vector<SanityAnswers> readings;
  const auto add = [&](std::vector<SanityAnswers> more) {
    std::ranges::move(more, std::back_inserter(readings));
  };
  std::optional<LetterAnswers> letters;
  if (session.no_reading().empty() && session.can().letters != Capabilities::Letters::None) {
    letters.emplace(session).ask();
    add(letters->answers());
  }
  if (session.can().likelihood) add(sanity_by_likelihood(session, probe));
  if (session.written) add(sanity_by_writing(session));
  if (readings.empty()) return not_measured("sanity", "no reading is supported");
  tell_sanity(readings, session, probe);
  if (letters) letters->tell(probe);
  return probe.close();
}

}  // namespace deem::seat

#include "seat/doctor/sanity.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/chance.h"
#include "seat/doctor/sanity_items.h"

namespace deem::seat {
namespace {

constexpr double kStuck = 0.8;
constexpr std::size_t kFewest = 12;  // prompts from which a share of places is told

bool is_right(const SanityAnswers& answers, std::size_t i) {
  return answers.said[i] == kSanityItems[i].label;
}

/// Items that one alone has right, of those both answered.
struct Discordant {
  std::size_t a = 0, b = 0, both = 0;
};
Discordant discordant(const SanityAnswers& a, const SanityAnswers& b) {
  Discordant out;
  for (std::size_t i = 0; i < std::min(a.said.size(), b.said.size()); ++i) {
    if (!a.said[i] || !b.said[i]) continue;
    ++out.both;
    out.a += is_right(a, i) && !is_right(b, i) ? 1U : 0U;
    out.b += is_right(b, i) && !is_right(a, i) ? 1U : 0U;
  }
  return out;
}

}  // namespace

double SanityFigures::share() const {
  return answered == 0 ? 0 : static_cast<double>(right) / static_cast<double>(answered);
}

SanityFigures::Standing SanityFigures::standing() const {
  if (2 * answered < std::size(kSanityItems)) return Standing::TooFew;
  return chance < kGuessing ? Standing::Above : Standing::Guessing;
}

SanityFigures figures_of(const SanityAnswers& answers) {
  SanityFigures out{.name = answers.name};
  std::vector<double> guess;
  for (std::size_t i = 0; i < answers.said.size(); ++i) {
    if (!answers.said[i]) continue;
    guess.push_back(1 / static_cast<double>(kSanityItems[i].size));
    out.guessing += guess.back();
    out.right += is_right(answers, i) ? 1U : 0U;
  }
  out.answered = guess.size();
  if (out.answered > 0) out.guessing /= static_cast<double>(out.answered);
  std::tie(out.low, out.high) = wilson_95(out.right, out.answered);
  out.chance = chance_of_at_least(out.right, guess);
  return out;
}

std::optional<SanityLead> lead_of(std::span<const SanityAnswers> readings) {
  const SanityAnswers* best = nullptr;
  std::size_t most = 0;
  for (const SanityAnswers& one : readings) {
    const SanityFigures figures = figures_of(one);
    if (figures.standing() != SanityFigures::Standing::Above || figures.right <= most) continue;
    best = &one;
    most = figures.right;
  }
  if (best == nullptr) return std::nullopt;
  SanityLead out{.best = best->name};
  std::vector<double> p;
  for (const SanityAnswers& other : readings) {
    const Discordant pairs = discordant(*best, other);
    if (&other == best || pairs.both == 0) continue;
    p.push_back(mcnemar_exact(pairs.a, pairs.b));
    out.over.push_back(
        {.name = other.name,
         .difference = (static_cast<double>(pairs.a) - static_cast<double>(pairs.b)) /
                       static_cast<double>(pairs.both)});
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < adjusted.size(); ++i) out.over[i].p = adjusted[i];
  return out;
}

double Places::Taken::share() const {
  return prompts == 0 ? 0 : static_cast<double>(times) / static_cast<double>(prompts);
}

std::pair<std::string, Places::Taken> Places::most() const {
  constexpr const char* kNames[] = {"first", "second", "third", "fourth"};
  std::pair<std::string, Taken> out{"last", last};
  for (std::size_t i = at.size(); i-- > 0;) {
    const Taken& best = out.second;
    const bool more = at[i].share() > best.share() ||
                      (at[i].share() == best.share() && at[i].prompts >= best.prompts);
    if (at[i].prompts >= kFewest && more) out = {kNames[i], at[i]};
  }
  return out;
}

std::string Places::stuck() const {
  const auto [name, taken] = most();
  return taken.prompts >= kFewest && taken.share() >= kStuck ? name : "";
}

Places places_of(std::span<const RotatedAnswer> answers) {
  Places out;
  std::map<std::size_t, std::pair<std::size_t, std::set<std::size_t>>> by_item;  // answers, options
  for (const RotatedAnswer& one : answers) {
    const std::size_t n = kSanityItems[one.item].size;
    const std::size_t place = (one.option + n - one.shift % n) % n;
    for (std::size_t i = 0; i < n; ++i) ++out.at[i].prompts;
    ++out.at[place].times;
    ++out.last.prompts;
    out.last.times += place + 1 == n ? 1U : 0U;
    auto& [count, options] = by_item[one.item];
    ++count;
    options.insert(one.option);
  }
  for (const auto& [item, seen] : by_item) {
    out.items += seen.first > 1 ? 1U : 0U;
    out.flips += seen.second.size() > 1 ? 1U : 0U;
  }
  return out;
}

}  // namespace deem::seat

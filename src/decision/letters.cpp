#include "decision/letters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "decision/question.h"
#include "decision/readout.h"
#include "decision/spelling.h"

namespace deem::decision {
namespace {

constexpr double kSentinel = -9999.0;  // what vLLM and OpenAI print where they have no number
constexpr double kMassSlack = 1e-3;    // rounding of printed logprobs over a long list

constexpr std::array<std::pair<LetterPolicy, std::string_view>, 4> kPolicies = {{
    {LetterPolicy::Exact, "exact"},
    {LetterPolicy::SumExact, "sum-exact"},
    {LetterPolicy::Fold, "fold"},
    {LetterPolicy::Reference, "reference"},
}};

constexpr double kPrinted = 1e-6;  // what rounding of printed logprobs can hide of the rest
constexpr double kBehind = 1e-9;   // a letter not seen comes after all that were, never beside

constexpr std::array<std::pair<VoidCause, std::string_view>, 19> kCauses = {{
    {VoidCause::None, "none"},
    {VoidCause::NoLogprobs, "no_logprobs"},
    {VoidCause::NoLetterSeen, "no_letter_seen"},
    {VoidCause::ThinkingToken, "thinking_token"},
    {VoidCause::AllZeroLogprobs, "all_zero_logprobs"},
    {VoidCause::SentinelLogprob, "sentinel_logprob"},
    {VoidCause::NotANumber, "not_a_number"},
    {VoidCause::MultiCharacter, "multi_character"},
    {VoidCause::LowLabelMass, "low_label_mass"},
    {VoidCause::Undecided, "undecided"},
    {VoidCause::TruncatedPrompt, "truncated_prompt"},
    {VoidCause::ProbabilityAboveOne, "probability_above_one"},
    {VoidCause::NotFinite, "not_finite"},
    {VoidCause::NoAnswer, "no_answer"},
    {VoidCause::Declined, "declined"},
    {VoidCause::MissingOption, "missing_option"},
    {VoidCause::NotAProbability, "not_a_probability"},
    {VoidCause::SumNotOne, "sum_not_one"},
    {VoidCause::ChoiceDiffers, "choice_differs"},
}};

bool is_sentinel(const std::optional<double>& logprob) {
  return logprob && std::isfinite(*logprob) && *logprob <= kSentinel;
}

/// Whether it is a number a probability can be made of.
bool is_reading(const std::optional<double>& logprob) {
  return logprob && std::isfinite(*logprob) && *logprob > kSentinel;
}

double mass_of(const std::optional<double>& logprob) {
  return is_reading(logprob) ? std::exp(*logprob) : 0;
}

bool is_same_token(const TokenScore& a, const TokenScore& b) {
  return a.id && b.id ? *a.id == *b.id : a.token == b.token;
}

/// The list as judged: entries of one id once, and the sampled token where the list lacks it.
std::vector<const TokenScore*> distinct_entries(const FirstPosition& position) {
  std::vector<const TokenScore*> entries;
  std::unordered_set<std::int64_t> ids;  // a list may be a whole vocabulary
  for (const TokenScore& entry : position.top) {
    if (!entry.id || ids.insert(*entry.id).second) entries.push_back(&entry);
  }
  const auto& sampled = position.sampled;
  if (sampled && std::ranges::none_of(entries, [&](const TokenScore* entry) {
        return is_same_token(*entry, *sampled);
      })) {
    entries.push_back(&*sampled);
  }
  return entries;
}

const TokenScore* likeliest(std::span<const TokenScore* const> entries) {
  const TokenScore* best = nullptr;
  for (const TokenScore* entry : entries) {
    if (!is_reading(entry->logprob)) continue;
    if (best == nullptr || *entry->logprob > *best->logprob) best = entry;
  }
  return best;
}

std::optional<std::size_t> letter_of(std::string_view text, std::size_t n) {
  return text.size() == 1 ? letter_index(text[0], n) : std::nullopt;
}

double log_sum(double a, double b) {
  const double top = std::max(a, b);
  return top + std::log1p(std::exp(std::min(a, b) - top));
}

struct ByPolicy {
  std::vector<std::optional<double>> logprobs;
  double outside = 0;  // mass of entries that went into no letter
};

ByPolicy apply_policy(std::span<const TokenScore* const> entries, std::size_t n,
                      LetterPolicy policy) {
  ByPolicy out{.logprobs = std::vector<std::optional<double>>(n)};
  for (const TokenScore* entry : entries) {
    if (!is_reading(entry->logprob)) continue;
    const auto text = policy == LetterPolicy::Fold ? strip_look_alike(entry->token)
                                                   : std::string_view(entry->token);
    const auto i = letter_of(text, n);
    if (!i) {
      out.outside += mass_of(entry->logprob);
      continue;
    }
    std::optional<double>& slot = out.logprobs[*i];
    if (!slot) {
      slot = entry->logprob;
    } else if (policy == LetterPolicy::Exact) {
      out.outside += std::exp(std::min(*slot, *entry->logprob));
      slot = std::max(*slot, *entry->logprob);
    } else {
      slot = log_sum(*slot, *entry->logprob);
    }
  }
  return out;
}

/// run.py's letter_scores, dict semantics included: an exact letter overwrites, a look-alike only
/// fills a gap, and a null counts as a value until overwritten.
ByPolicy apply_reference(const std::vector<TokenScore>& top, std::size_t n) {
  ByPolicy out{.logprobs = std::vector<std::optional<double>>(n)};
  std::vector<const TokenScore*> held(n, nullptr);
  for (const TokenScore& entry : top) {
    const bool exact = letter_of(entry.token, kLetters).has_value();
    const auto i = letter_of(exact ? std::string_view(entry.token) : strip_python(entry.token), n);
    if (i && (held[*i] == nullptr || exact)) held[*i] = &entry;
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (held[i] != nullptr) out.logprobs[i] = held[i]->logprob;
  }
  for (const TokenScore& entry : top) {
    if (std::ranges::find(held, &entry) == held.end()) out.outside += mass_of(entry.logprob);
  }
  return out;
}

template <class Predicate>
bool any_logprob(const FirstPosition& position, Predicate predicate) {
  const auto holds = [&](const std::optional<double>& lp) { return lp && predicate(*lp); };
  return std::ranges::any_of(position.exact, holds) || holds(position.top_mass) ||
         std::ranges::any_of(position.top, [&](const auto& e) { return holds(e.logprob); }) ||
         (position.sampled && holds(position.sampled->logprob));
}

bool is_all_zero(std::span<const TokenScore* const> entries, const FirstPosition& position) {
  std::size_t zeros = 0;
  std::size_t others = 0;
  const auto count = [&](const std::optional<double>& lp) {
    if (lp) ++(*lp == 0.0 ? zeros : others);
  };
  if (!position.exact.empty()) {
    for (const auto& lp : position.exact) count(lp);
  } else {
    for (const TokenScore* entry : entries) count(entry->logprob);
  }
  return zeros > 1 && others == 0;
}

bool is_above_one(std::span<const TokenScore* const> entries, const FirstPosition& position,
                  double mass_letters) {
  double listed = 0;
  for (const TokenScore* entry : entries) listed += mass_of(entry->logprob);
  constexpr double kMost = 1 + kMassSlack;
  return listed > kMost || mass_letters > kMost || position.top_mass.value_or(0) > kMost;
}

bool has_sentinel(const FirstPosition& position) {
  if (position.sampled && is_sentinel(position.sampled->logprob)) return true;
  if (!position.top.empty() && is_sentinel(position.top.front().logprob)) return true;
  // A letter asked for by id always has a number; among the top k it is merely not seen.
  return std::ranges::any_of(position.exact, is_sentinel);
}

bool is_fused(const TokenScore* best, std::size_t n, double mass_letters) {
  if (best == nullptr) return false;
  const std::string_view text = strip_look_alike(best->token);
  return text.size() > 1 && letter_index(text[0], n) && mass_letters < mass_of(best->logprob);
}

/// Whether a letter without a number may be likelier than every letter that has one: by its bound,
/// or because it is what the server wrote.
bool is_undecided(const FirstPosition& position, const LettersReading& reading) {
  const std::size_t n = reading.logprobs.size();
  if (position.sampled && !is_reading(position.sampled->logprob)) {
    const auto written = letter_of(strip_look_alike(position.sampled->token), n);
    if (written && !reading.logprobs[*written]) return true;
  }
  if (!reading.bound) return false;
  return std::ranges::none_of(reading.logprobs,
                              [&](const auto& lp) { return lp && *lp >= *reading.bound; });
}

VoidCause judge(const FirstPosition& position, std::span<const TokenScore* const> entries,
                const LettersReading& reading, const LettersRule& rule) {
  if (any_logprob(position, [](double v) { return std::isnan(v); })) return VoidCause::NotANumber;
  if (any_logprob(position, [](double v) { return std::isinf(v) && v > 0; })) {
    return VoidCause::NotFinite;
  }
  if (is_all_zero(entries, position)) return VoidCause::AllZeroLogprobs;
  if (is_above_one(entries, position, reading.mass_letters)) return VoidCause::ProbabilityAboveOne;
  if (has_sentinel(position)) return VoidCause::SentinelLogprob;
  const TokenScore* best = likeliest(entries);
  if ((position.sampled && is_thinking_mark(position.sampled->token)) ||
      (best != nullptr && is_thinking_mark(best->token))) {
    return VoidCause::ThinkingToken;
  }
  if (is_fused(best, reading.logprobs.size(), reading.mass_letters)) {
    return VoidCause::MultiCharacter;
  }
  if (std::ranges::none_of(reading.logprobs, [](const auto& lp) { return lp.has_value(); })) {
    return VoidCause::NoLetterSeen;
  }
  // Written so that a threshold that is no number refuses too.
  if (!(reading.mass_letters >= rule.min_mass)) return VoidCause::LowLabelMass;
  return is_undecided(position, reading) ? VoidCause::Undecided : VoidCause::None;
}

std::optional<double> lowest_listed(const FirstPosition& position) {
  std::optional<double> lowest;
  for (const TokenScore& entry : position.top) {
    if (is_reading(entry.logprob) && (!lowest || *entry.logprob < *lowest)) lowest = entry.logprob;
  }
  if (!lowest && position.sampled && is_reading(position.sampled->logprob)) {
    lowest = position.sampled->logprob;
  }
  return lowest;
}

/// The most a letter without a number can be: what the listed entries leave and, unless it is
/// listed itself, the lowest of them.
std::optional<double> bound_by_list(const FirstPosition& position,
                                    std::span<const TokenScore* const> entries,
                                    const LettersReading& reading) {
  const auto lowest = lowest_listed(position);
  if (!lowest) return std::nullopt;
  double listed = 0;
  bool is_listed = false;
  for (const TokenScore* entry : entries) {
    listed += mass_of(entry->logprob);
    const auto letter = letter_of(strip_look_alike(entry->token), reading.logprobs.size());
    is_listed |= letter && !is_reading(entry->logprob) && !reading.logprobs[*letter];
  }
  const double rest = std::log(std::max(1 - listed, kPrinted));
  return is_listed ? rest : std::min(rest, *lowest);
}

}  // namespace

std::string_view to_string(LetterPolicy policy) {
  for (const auto& [value, name] : kPolicies) {
    if (value == policy) return name;
  }
  DEEM_CHECK(false);
}

std::optional<LetterPolicy> parse_letter_policy(std::string_view name) {
  for (const auto& [value, text] : kPolicies) {
    if (text == name) return value;
  }
  return std::nullopt;
}

std::string_view to_string(VoidCause cause) {
  for (const auto& [value, name] : kCauses) {
    if (value == cause) return name;
  }
  DEEM_CHECK(false);
}

std::optional<VoidCause> parse_void_cause(std::string_view name) {
  for (const auto& [value, text] : kCauses) {
    if (text == name) return value;
  }
  return std::nullopt;
}

LettersReading read_letters(const FirstPosition& position, std::size_t n, const LettersRule& rule) {
  LettersReading reading;
  reading.logprobs.resize(n);
  const auto entries = distinct_entries(position);
  const TokenScore* first = position.sampled ? &*position.sampled : likeliest(entries);
  if (first != nullptr) {
    reading.top_token = first->token;
    reading.top_id = first->id;
    reading.top_logprob = first->logprob;
  }

  const bool exact = !position.exact.empty();
  if (!exact && (!position.logprobs_present || position.top.empty())) {
    const bool listed = !entries.empty();
    const bool sampled_reads = position.sampled && position.sampled->logprob;
    if (rule.policy == LetterPolicy::Reference ? !position.logprobs_present && !listed
                                               : !position.logprobs_present || !sampled_reads) {
      reading.cause = VoidCause::NoLogprobs;
      return reading;
    }
  }

  double outside = 0;
  if (exact) {
    for (std::size_t i = 0; i < std::min(n, position.exact.size()); ++i) {
      if (is_reading(position.exact[i])) reading.logprobs[i] = position.exact[i];
    }
  } else {
    ByPolicy read = rule.policy == LetterPolicy::Reference ? apply_reference(position.top, n)
                                                           : apply_policy(entries, n, rule.policy);
    reading.logprobs = std::move(read.logprobs);
    outside = read.outside;
  }
  bool missing = false;
  for (const auto& logprob : reading.logprobs) {
    reading.mass_letters += mass_of(logprob);
    missing = missing || !logprob;
  }
  reading.mass_outside = exact ? std::max(0.0, 1 - reading.mass_letters) : outside;
  if (missing && exact && reading.mass_letters < 1) {
    reading.bound = std::log1p(-reading.mass_letters);
  } else if (missing && !exact) {
    reading.bound = rule.policy == LetterPolicy::Reference
                        ? lowest_listed(position)
                        : bound_by_list(position, entries, reading);
  }
  if (rule.policy != LetterPolicy::Reference) {
    reading.cause = judge(position, entries, reading, rule);
  }
  return reading;
}

Filled fill_missing(const LettersReading& reading, LetterPolicy policy) {
  double fill = kReferenceFloor;
  if (policy != LetterPolicy::Reference) {
    double lowest = std::numeric_limits<double>::infinity();
    for (const auto& logprob : reading.logprobs) {
      if (logprob) lowest = std::fmin(lowest, *logprob);
    }
    lowest -= kBehind;
    if (reading.bound) lowest = std::fmin(lowest, *reading.bound);
    if (std::isfinite(lowest)) fill = lowest;
  }
  Filled out;
  for (std::size_t i = 0; i < reading.logprobs.size(); ++i) {
    if (!reading.logprobs[i]) out.floored.push_back(i);
    out.logprobs.push_back(reading.logprobs[i].value_or(fill));
  }
  return out;
}

}  // namespace deem::decision

#include "score/seed_fields.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

namespace deem::score {
namespace {

std::uint64_t tail_of(std::string_view text) {
  std::uint64_t tail = 0;
  if (text.empty()) return tail;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&tail, text.data() + text.size() - sizeof tail, sizeof tail);
    return text.size() < sizeof tail ? tail >> (8 * (sizeof tail - text.size())) : tail;
  }
  const std::size_t n = std::min(text.size(), sizeof tail);
  std::memcpy(&tail, text.data() + text.size() - n, n);
  return tail;
}

bool same_text(std::string_view a, std::uint64_t tail_a, std::string_view b, std::uint64_t tail_b) {
  const bool alike = (a.size() == b.size()) & (tail_a == tail_b);
  return alike && (a.size() <= sizeof tail_a || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace

SeedField find_seed_field(std::string_view key) {
  using enum SeedField;
  struct Name {
    std::string_view key;
    SeedField field;
  };
  static constexpr std::array<Name, 11> kNames{{{"refused", Refused},
                                                {"label", Label},
                                                {"choice", Choice},
                                                {"seconds", Seconds},
                                                {"probs", Probs},
                                                {"mode", Mode},
                                                {"parsed", Parsed},
                                                {"floored", Floored},
                                                {"error", Error},
                                                {"prompt_tokens", PromptTokens},
                                                {"eval_tokens", EvalTokens}}};
  const auto* found = std::ranges::find(kNames, key, &Name::key);
  return found != kNames.end() ? found->field : Other;
}

void SeedFields::clear() {
  refused = label = choice = mode = error = {};
  parsed_is_false = false;
  floored = 0;
  seconds = prompt_tokens = eval_tokens = {};
  prob_count = 0;
}

SeedFields::Prob* SeedFields::add_prob(std::string_view key) {
  if (prob_count == kMaxProbs) return nullptr;
  Prob& prob = probs[prob_count];
  prob.key = key;
  prob.tail = tail_of(key);
  const std::uint64_t hash = (prob.tail ^ key.size()) * 0x9e3779b97f4a7c15U;
  std::uint64_t& word = filter_[hash >> 61];
  const std::uint64_t bit = std::uint64_t{1} << (hash >> 55 & 63);
  if ((word & bit) != 0) {
    for (std::size_t i = 0; i < prob_count; ++i) {
      if (same_text(probs[i].key, probs[i].tail, prob.key, prob.tail)) return nullptr;
    }
  }
  word |= bit;
  ++prob_count;
  return &prob;
}

bool SeedFields::finish_probs(SeedRow& row) const {
  const std::uint64_t label_tail = tail_of(label.bytes);
  double top = -std::numeric_limits<double>::infinity();
  double brier = 0;
  for (std::size_t i = 0; i < prob_count; ++i) {
    const Prob& prob = probs[i];
    const bool hit = same_text(prob.key, prob.tail, label.bytes, label_tail);
    top = std::max(top, prob.p);
    brier += python_square(prob.p - static_cast<double>(hit));
  }
  row.brier = brier;
  row.top_p = top;
  row.flags |= SeedRow::kHasProbs;
  // Squares that leave the range of a double are an error in Python; so is no
  // bin.
  return std::isfinite(brier) && find_seed_bin(top * static_cast<double>(kSeedBins), row.bin);
}

bool SeedFields::finish(SeedRow& row, std::vector<codec::Json>& refusals) const {
  if (refused.is_true()) {
    row.flags = SeedRow::kRefused;
    row.refusal = static_cast<std::uint32_t>(refusals.size());
    refusals.emplace_back(std::string(refused.bytes));
    return true;
  }
  row.seconds = seconds;
  // `x or 0`: a zero of any type adds the integer 0, so it does not turn a sum
  // into a float.
  if (prompt_tokens.as_double() != 0) row.prompt_tokens = prompt_tokens;
  if (eval_tokens.as_double() != 0) row.eval_tokens = eval_tokens;
  row.floored = floored;
  if (error.is_true()) row.flags |= SeedRow::kError;
  if (parsed_is_false && mode.bytes == "generate") row.flags |= SeedRow::kUnparsed;
  if (!label.is_true()) return true;
  row.flags |= SeedRow::kLabelled;
  if (!choice.is_given) return false;
  if (choice.bytes == label.bytes) row.flags |= SeedRow::kCorrect;
  return prob_count == 0 || finish_probs(row);
}

}  // namespace deem::score

#include "decision/likelihood.h"

#include <cmath>

namespace deem::decision {
namespace {

VoidCause judge_one(const TextScore& text) {
  constexpr double kSentinel = -9999.0;
  constexpr double kLeastPerToken = -100.0;  // a model's own logprob of a token stays above it
  constexpr double kSlack = 1e-3;
  if (text.tokens == 0) return VoidCause::NoLogprobs;
  if (std::isnan(text.sum)) return VoidCause::NotANumber;
  if (!std::isfinite(text.sum)) return VoidCause::NotFinite;
  if (text.sum <= kSentinel && text.sum / static_cast<double>(text.tokens) < kLeastPerToken) {
    return VoidCause::SentinelLogprob;
  }
  return text.sum > kSlack ? VoidCause::ProbabilityAboveOne : VoidCause::None;
}

}  // namespace

VoidCause judge_texts(std::span<const TextScore> texts,
                      std::span<const std::optional<TextScore>> priors) {
  if (texts.empty()) return VoidCause::NoLogprobs;
  std::size_t tokens = 0;
  bool all_zero = true;
  for (const TextScore& text : texts) {
    if (const VoidCause cause = judge_one(text); cause != VoidCause::None) return cause;
    tokens += text.tokens;
    all_zero = all_zero && text.sum == 0.0;
  }
  for (const auto& prior : priors) {
    if (!prior) continue;
    if (const VoidCause cause = judge_one(*prior); cause != VoidCause::None) return cause;
  }
  return all_zero && tokens > 1 ? VoidCause::AllZeroLogprobs : VoidCause::None;
}

}  // namespace deem::decision

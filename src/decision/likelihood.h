#pragma once

#include <optional>
#include <span>

#include "decision/letters.h"
#include "decision/readout.h"

namespace deem::decision {

/// Why texts scored by likelihood are no answer; None when they are one. Priors are judged where
/// present. The causes, in this order: NoLogprobs (no text, or one without tokens), NotANumber,
/// NotFinite, SentinelLogprob (a sum at or under −9999 that means under −100 a token),
/// ProbabilityAboveOne (a sum over 0.001), AllZeroLogprobs (more than one token, every sum
/// exactly 0).
VoidCause judge_texts(std::span<const TextScore> texts,
                      std::span<const std::optional<TextScore>> priors = {});

}  // namespace deem::decision

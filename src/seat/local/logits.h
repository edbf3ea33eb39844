#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "seat/local/token.h"

namespace deem::seat::local {

/// ln Σ exp(x) over the whole vocabulary: terms in single precision (relative error below 3e-7),
/// summed in double. −infinity entries add nothing; NaN anywhere gives NaN. Requires logits.
double log_sum_exp(std::span<const float> logits);

/// One row of scores over the vocabulary. The span lives only during the call that hands it out.
struct ScoreRow {
  std::span<const float> logits;
  double log_total = 0;  // log_sum_exp(logits)

  double logprob(Token token) const {
    return static_cast<double>(logits[static_cast<std::size_t>(token)]) - log_total;
  }
};

/// Ids of the `k` highest logits, highest first; among equals the lower id first.
std::vector<Token> top_tokens(std::span<const float> logits, std::size_t k);

}  // namespace deem::seat::local

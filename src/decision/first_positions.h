#pragma once

// For tests: first positions as servers send them.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decision/letters.h"

namespace deem::decision {

using Logprobs = std::vector<std::optional<double>>;

inline TokenScore entry(std::string token, std::optional<double> logprob,
                        std::optional<std::int64_t> id = std::nullopt) {
  return {.token = std::move(token), .id = id, .logprob = logprob};
}

/// As a server at temperature 0 sends it: the first entry is the sampled token too.
inline FirstPosition listed(std::vector<TokenScore> top) {
  FirstPosition position;
  position.sampled = top.front();
  position.top = std::move(top);
  position.asked_k = 20;
  position.logprobs_present = true;
  return position;
}

inline FirstPosition exactly(Logprobs logprobs, std::vector<TokenScore> top = {}) {
  FirstPosition position;
  position.exact = std::move(logprobs);
  position.top = std::move(top);
  position.logprobs_present = true;
  return position;
}

inline VoidCause cause(const FirstPosition& position, std::size_t n = 2,
                       LetterPolicy policy = LetterPolicy::Exact) {
  return read_letters(position, n, {.policy = policy}).cause;
}

}  // namespace deem::decision

#include "seat/local/logits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <queue>

namespace deem::seat::local {
namespace {

// One vector version per instruction set, chosen when the program starts. Sanitizers can not run
// in the resolver that chooses.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define DEEM_VECTOR_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define DEEM_VECTOR_CLONES
#endif

constexpr std::size_t kLanes = 16;

// exp(x) for x ≤ 0 without branches, so that the compiler turns the loop into vector code:
// 2^n · e^r with n = round(x / ln 2), |r| ≤ ln 2 / 2, e^r by its Taylor series to r^7 (truncation
// below 6e-9). Below ln of the smallest normal float the result is 0.
inline float exp_of_negative(float x) {
  constexpr float kRoundToInt = 0x1.8p23f;  // adding it leaves the rounded integer in the low bits
  constexpr float kSmallest = -87.0f;
  const float clamped = x < kSmallest ? kSmallest : x;  // NaN stays NaN
  const float shifted = clamped * std::numbers::log2e_v<float> + kRoundToInt;
  const float n = shifted - kRoundToInt;
  const float r = (clamped - n * 0.693359375f) - n * -2.12194440e-4f;  // ln 2 in two parts
  float series = 1.0f / 5040.0f;
  series = series * r + 1.0f / 720.0f;
  series = series * r + 1.0f / 120.0f;
  series = series * r + 1.0f / 24.0f;
  series = series * r + 1.0f / 6.0f;
  series = series * r + 0.5f;
  series = series * r + 1.0f;
  series = series * r + 1.0f;
  const auto exponent = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(shifted)) -
                        static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(kRoundToInt));
  const float scale = std::bit_cast<float>((exponent + 127) << 23);
  return x < kSmallest ? 0.0f : series * scale;
}

// Highest value, NaN left aside. Lanes free the loop of its order, so it vectorises.
DEEM_VECTOR_CLONES float highest(const float* x, std::size_t n) {
  float best[kLanes];
  std::fill(best, best + kLanes, -std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) best[j] = x[i + j] > best[j] ? x[i + j] : best[j];
  }
  for (; i < n; ++i) best[0] = x[i] > best[0] ? x[i] : best[0];
  return *std::max_element(best, best + kLanes);
}

DEEM_VECTOR_CLONES double sum_exp(const float* x, std::size_t n, float top) {
  constexpr std::size_t kBlock = 256;
  double sums[kLanes] = {};
  float terms[kBlock];
  for (std::size_t at = 0; at < n; at += kBlock) {
    const std::size_t count = std::min(kBlock, n - at);
    for (std::size_t i = 0; i < count; ++i) terms[i] = exp_of_negative(x[at + i] - top);
    for (std::size_t i = count; i < kBlock; ++i) terms[i] = 0.0f;
    for (std::size_t i = 0; i < kBlock; i += kLanes) {
      for (std::size_t j = 0; j < kLanes; ++j) sums[j] += static_cast<double>(terms[i + j]);
    }
  }
  return std::accumulate(sums, sums + kLanes, 0.0);
}

}  // namespace

double log_sum_exp(std::span<const float> logits) {
  const float top = highest(logits.data(), logits.size());
  if (std::isinf(top)) {
    const bool nothing = top < 0.0f && std::ranges::none_of(logits, [](float x) { return x != x; });
    return nothing ? static_cast<double>(top) : std::numeric_limits<double>::quiet_NaN();
  }
  return static_cast<double>(top) + std::log(sum_exp(logits.data(), logits.size(), top));
}

std::vector<Token> top_tokens(std::span<const float> logits, std::size_t k) {
  k = std::min(k, logits.size());
  if (k == 0) return {};
  const auto before = [&](Token a, Token b) {
    const float x = logits[static_cast<std::size_t>(a)];
    const float y = logits[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  };
  // The heap's top is the last of the best so far; most tokens lose against it at once.
  std::priority_queue<Token, std::vector<Token>, decltype(before)> best(before);
  for (Token token = 0; token < static_cast<Token>(logits.size()); ++token) {
    if (best.size() < k) {
      best.push(token);
    } else if (before(token, best.top())) {
      best.pop();
      best.push(token);
    }
  }
  std::vector<Token> tokens(best.size());
  for (std::size_t i = tokens.size(); i-- > 0;) {
    tokens[i] = best.top();
    best.pop();
  }
  return tokens;
}

}  // namespace deem::seat::local

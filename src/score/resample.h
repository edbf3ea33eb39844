#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace deem::score {

/// xoshiro256** seeded by splitmix64 (Blackman & Vigna): the same numbers for a seed everywhere,
/// and fast enough for a thousand resamples of a million rows.
class Random {
 public:
  explicit Random(std::uint64_t seed);
  std::uint64_t next();
  /// Uniform in [0, 1), 53 bits.
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Uniform in [0, n), by multiplication (bias under n / 2^32). Requires 0 < n < 2^32.
  std::size_t below(std::size_t n) { return ((next() >> 32) * n) >> 32; }

 private:
  std::uint64_t state_[4];
};

/// A 95 % interval.
struct Interval {
  double low = 0, high = 0;
};

/// Sums of one cluster: how many items, and the figures' numerators.
struct ClusterSums {
  double n = 0;
  double a = 0, b = 0;
};

/// Percentile bootstrap of two means at once (Σa/Σn and Σb/Σn), whole clusters resampled: items on
/// one state stand or fall together. `draws` resamples from `seed`; quantiles by nearest rank. None
/// when there are under two clusters: nothing can be said of what another state would give.
struct BootstrapMeans {
  Interval a, b;
};
inline constexpr std::size_t kBootstrapDraws = 1'000;
std::optional<BootstrapMeans> bootstrap_means(std::span<const ClusterSums> clusters,
                                              std::uint64_t seed,
                                              std::size_t draws = kBootstrapDraws);

}  // namespace deem::score

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace deem::score {

/// A share with its count and its 95 % Wilson interval.
struct Rate {
  std::size_t hits = 0, n = 0;
  std::optional<double> value = {};  // none when n is 0
  double low = 0, high = 1;
};
Rate rate(std::size_t hits, std::size_t n);

/// 1-based rank of the nearest-rank percentile: the smallest rank covering a share q of n samples,
/// q in basis points (9'500 = p95). Requires n > 0 and 0 < q ≤ 10'000.
constexpr std::size_t nearest_rank(std::size_t n, std::size_t q) {
  return (n * q + 9'999) / 10'000;
}

/// The nearest-rank percentile of unsorted values; none when there are none.
std::optional<double> percentile(std::vector<double> values, std::size_t q);

/// P(a positive's score > a negative's), ties counting half (Mann–Whitney U / n₁n₂). None when
/// either class is empty.
std::optional<double> auroc(std::span<const double> positives, std::span<const double> negatives);

}  // namespace deem::score

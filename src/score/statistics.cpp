#include "score/statistics.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/chance.h"

namespace deem::score {

Rate rate(std::size_t hits, std::size_t n) {
  Rate out{.hits = hits, .n = n};
  if (n > 0) out.value = static_cast<double>(hits) / static_cast<double>(n);
  std::tie(out.low, out.high) = wilson_95(hits, n);
  return out;
}

std::optional<double> percentile(std::vector<double> values, std::size_t q) {
  if (values.empty()) return std::nullopt;
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>(nearest_rank(values.size(), q) - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

std::optional<double> auroc(std::span<const double> positives, std::span<const double> negatives) {
  if (positives.empty() || negatives.empty()) return std::nullopt;
  std::vector<double> sorted(negatives.begin(), negatives.end());
  std::ranges::sort(sorted);
  double wins = 0;
  for (const double p : positives) {
    const auto low = std::ranges::lower_bound(sorted, p),
               high = std::ranges::upper_bound(sorted, p);
    wins += static_cast<double>(low - sorted.begin()) + 0.5 * static_cast<double>(high - low);
  }
  return wins / (static_cast<double>(positives.size()) * static_cast<double>(negatives.size()));
}

}  // namespace deem::score

#include "base/chance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace deem {

std::pair<double, double> wilson_95(std::size_t hits, std::size_t n) {
  if (n == 0) return {0, 1};
  constexpr double kZ = 1.959963984540054;
  const auto size = static_cast<double>(n);
  const double p = static_cast<double>(hits) / size;
  const double z2 = kZ * kZ;
  const double centre = (p + z2 / (2 * size)) / (1 + z2 / size);
  const double half = kZ / (1 + z2 / size) * std::sqrt(p * (1 - p) / size + z2 / (4 * size * size));
  return {hits == 0 ? 0 : std::max(0.0, centre - half),
          hits == n ? 1 : std::min(1.0, centre + half)};
}

double chance_of_at_least(std::size_t hits, std::span<const double> p) {
  std::vector<double> count(p.size() + 1, 0.0);  // chance of each number of successes so far
  count[0] = 1;
  for (std::size_t n = 0; n < p.size(); ++n) {
    for (std::size_t k = n + 1; k > 0; --k) count[k] = count[k] * (1 - p[n]) + count[k - 1] * p[n];
    count[0] *= 1 - p[n];
  }
  double tail = 0;
  for (std::size_t k = p.size() + 1; k-- > hits;) tail += count[k];
  return hits == 0 ? 1 : std::min(1.0, tail);
}

double mcnemar_exact(std::size_t b, std::size_t c) {
  const std::size_t n = b + c;
  const double log_half_n = static_cast<double>(n) * std::log(2.0);
  double tail = 0;
  for (std::size_t k = 0; k <= std::min(b, c); ++k) {
    const auto x = static_cast<double>(k), m = static_cast<double>(n);
    tail += std::exp(std::lgamma(m + 1) - std::lgamma(x + 1) - std::lgamma(m - x + 1) - log_half_n);
  }
  return std::min(1.0, 2 * tail);
}

std::pair<double, double> paired_difference_95(std::size_t both, std::size_t first,
                                               std::size_t second, std::size_t neither) {
  const std::size_t pairs = both + first + second + neither;
  if (pairs == 0) return {-1, 1};
  const auto a = static_cast<double>(both), b = static_cast<double>(first),
             c = static_cast<double>(second), d = static_cast<double>(neither), n = a + b + c + d;
  const double p1 = (a + b) / n, p2 = (a + c) / n;
  const auto [low1, high1] = wilson_95(both + first, pairs);
  const auto [low2, high2] = wilson_95(both + second, pairs);
  const double margins = (a + b) * (c + d) * (a + c) * (b + d), excess = a * d - b * c;
  // Continuity takes n/2 from a positive correlation.
  const double corrected = excess > 0 ? std::max(0.0, excess - n / 2) : excess;
  const double phi = margins > 0 ? corrected / std::sqrt(margins) : 0;
  const auto side = [&](double x, double y) { return std::sqrt(x * x - 2 * phi * x * y + y * y); };
  return {std::max(-1.0, p1 - p2 - side(p1 - low1, high2 - p2)),
          std::min(1.0, p1 - p2 + side(high1 - p1, p2 - low2))};
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> out(p.size());
  double most = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto tests = static_cast<double>(order.size() - rank);
    most = std::max(most, std::min(1.0, tests * p[order[rank]]));
    out[order[rank]] = most;
  }
  return out;
}

}  // namespace deem

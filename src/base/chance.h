#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace deem {

/// 95 % interval of a share by Wilson's score (1927), z = 1.959964. Requires hits ≤ n; n = 0 gives
/// [0, 1].
std::pair<double, double> wilson_95(std::size_t hits, std::size_t n);

/// The chance of `hits` or more successes in independent trials that succeed with the probabilities
/// `p` (Poisson binomial, summed exactly).
double chance_of_at_least(std::size_t hits, std::span<const double> p);

/// Exact two-sided McNemar test: the chance of discordant pairs at least as uneven as `b` against
/// `c` when each falls either way with probability ½. 1 when there are none.
double mcnemar_exact(std::size_t b, std::size_t c);

/// 95 % interval of the difference between two paired shares, the first minus the second (Newcombe
/// 1998, method 10). Pairs that have both, the first alone, the second alone, neither; no pairs
/// give [−1, 1].
std::pair<double, double> paired_difference_95(std::size_t both, std::size_t first,
                                               std::size_t second, std::size_t neither);

/// Holm's adjustment for several tests at once (1979): p-values in the order given, none above 1.
std::vector<double> holm(std::span<const double> p);

}  // namespace deem

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kit/kit.h"

namespace deem::kit {

/// Where the labelled options of a task stand in their lists. An item with n options expects 1/n
/// at each of its positions.
struct Balance {
  std::size_t labelled = 0;         // items whose label is one of their options
  std::vector<std::size_t> counts;  // by position
  std::vector<double> expected;
  double chi_square = 0;  // Pearson's, over positions

  /// The rule: at least 20 labelled items; chi-square above its 0.1 % point (Wilson and Hilferty's
  /// approximation); and more than a tenth of the items would have to move for an even spread, so
  /// that large kits are not scolded for small tilts. A score's levels need not be even: never.
  bool badly_unbalanced() const;
  /// "A 52, B 3, C 5 (17.3, 17.3, 25.4 expected)", at most eight positions.
  std::string text() const;

  bool ordered = false;  // a score task
};

Balance balance_of(const Task& task);

/// The point a chi-square with `degrees` of freedom passes once in a thousand times; up to 3 % too
/// high for one degree, under 1 % from ten degrees on.
double chi_square_critical(std::size_t degrees);

}  // namespace deem::kit

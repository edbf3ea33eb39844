#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "score/judged.h"

namespace deem::score {

/// Answers in order of falling confidence: acting on the first k of n gives coverage k/n and a
/// risk, the share of them that is wrong. Answers of equal confidence can only be acted on
/// together: inside such a run the errors are spread evenly.
class RiskCoverage {
 public:
  explicit RiskCoverage(const Judged& judged);

  struct Run {
    double confidence = 0;  // of this run
    std::size_t n = 0;      // answers of this confidence or more
    std::size_t wrong = 0;  // of those
  };
  /// One for each distinct confidence, falling.
  const std::vector<Run>& runs() const { return runs_; }

  /// Area under the curve: the mean risk over k = 1..n (Geifman & El-Yaniv 2017). None when empty.
  std::optional<double> area() const;

  /// Acting where p ≥ threshold.
  struct Above {
    std::size_t n = 0, correct = 0;
  };
  Above above(double threshold) const;

  /// The least threshold whose answers are right in `accuracy` of the cases or more; none when no
  /// threshold reaches it. With `sure`, the lower end of the share's 95 % Wilson interval must
  /// reach it. The largest coverage wins, so a later run may do where an earlier one did not.
  std::optional<double> threshold_for(double accuracy, bool sure) const;

 private:
  std::vector<Run> runs_;
};

}  // namespace deem::score

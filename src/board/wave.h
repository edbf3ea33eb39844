#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace deem::board {

/// A quantity over time, with its integral in closed form: what scripted boards draw.
class Wave {
 public:
  /// The same always.
  static Wave constant(double value);
  /// mean + amplitude · sin(2π t / period_s). Requires period_s > 0.
  static Wave sine(double mean, double amplitude, double period_s);
  /// Each value from its time on; the first also before. Requires points, times ascending.
  static Wave steps(std::vector<std::pair<double, double>> points);

  double at(double t_s) const;
  /// ∫ from 0 to `t_s`, in the quantity's unit times seconds. Requires t_s ≥ 0.
  double integral(double t_s) const;

 private:
  std::vector<std::pair<double, double>> points_;  // time, value
  double amplitude_ = 0, period_s_ = 1;
};

}  // namespace deem::board

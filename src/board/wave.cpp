#include "board/wave.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace deem::board {

Wave Wave::constant(double value) { return steps({{0, value}}); }

Wave Wave::sine(double mean, double amplitude, double period_s) {
  Wave out = constant(mean);
  out.amplitude_ = amplitude;
  out.period_s_ = period_s;
  return out;
}

Wave Wave::steps(std::vector<std::pair<double, double>> points) {
  Wave out;
  out.points_ = std::move(points);
  return out;
}

double Wave::at(double t_s) const {
  double value = points_.front().second;
  for (const auto& [from, next] : points_) {
    if (from <= t_s) value = next;
  }
  return value + amplitude_ * std::sin(2 * std::numbers::pi * t_s / period_s_);
}

double Wave::integral(double t_s) const {
  double sum = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const double from = i == 0 ? 0 : std::max(points_[i].first, 0.0);
    const double to = i + 1 < points_.size() ? std::min(points_[i + 1].first, t_s) : t_s;
    if (to > from) sum += points_[i].second * (to - from);
  }
  const double turn = 2 * std::numbers::pi / period_s_;
  return sum + amplitude_ / turn * (1 - std::cos(turn * t_s));
}

}  // namespace deem::board

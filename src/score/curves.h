#pragma once

#include <cstddef>
#include <vector>

#include "score/selective.h"

namespace deem::score {

struct CurvePoint {
  double x = 0, y = 0;
  double at = 0;  // risk and coverage: the confidence from which on one acts; else 0
  bool operator==(const CurvePoint&) const = default;
};

/// Acting on the most confident first: x the share acted on, y the share of those that is wrong.
/// One point for each distinct confidence; inside a run of equal ones there is no choice to make.
std::vector<CurvePoint> risk_coverage_points(const RiskCoverage& curve);

/// The empirical distribution: x a distinct value, rising, y the share of values up to it.
std::vector<CurvePoint> ecdf_points(std::vector<double> values);

/// At most `most` of the points, evenly by index, the first and the last among them: true points of
/// the curve, none in between. Requires most ≥ 2.
std::vector<CurvePoint> thinned(std::vector<CurvePoint> points, std::size_t most);

}  // namespace deem::score

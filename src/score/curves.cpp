#include "score/curves.h"

#include <algorithm>

namespace deem::score {

std::vector<CurvePoint> risk_coverage_points(const RiskCoverage& curve) {
  std::vector<CurvePoint> out;
  if (curve.runs().empty()) return out;
  const auto all = static_cast<double>(curve.runs().back().n);
  out.reserve(curve.runs().size());
  for (const RiskCoverage::Run& run : curve.runs()) {
    const auto n = static_cast<double>(run.n);
    out.push_back({n / all, static_cast<double>(run.wrong) / n, run.confidence});
  }
  return out;
}

std::vector<CurvePoint> ecdf_points(std::vector<double> values) {
  std::ranges::sort(values);
  std::vector<CurvePoint> out;
  const auto all = static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i + 1 < values.size() && values[i + 1] == values[i]) continue;
    out.push_back({values[i], static_cast<double>(i + 1) / all, 0});
  }
  return out;
}

std::vector<CurvePoint> thinned(std::vector<CurvePoint> points, std::size_t most) {
  if (points.size() <= most) return points;
  std::vector<CurvePoint> out;
  out.reserve(most);
  for (std::size_t i = 0; i < most; ++i) {
    out.push_back(points[i * (points.size() - 1) / (most - 1)]);
  }
  return out;
}

}  // namespace deem::score

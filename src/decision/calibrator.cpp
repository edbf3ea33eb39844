#include "decision/calibrator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/check.h"
#include "decision/readout.h"

namespace deem::decision {
namespace {

using Method = Calibrator::Method;
constexpr std::array<std::pair<Method, std::string_view>, 5> kNames = {
    {{Method::None, "none"},
     {Method::Temperature, "temperature"},
     {Method::LabelPrior, "label-prior"},
     {Method::Platt, "platt"},
     {Method::Isotonic, "isotonic"}}};
constexpr double kTieBreak = 1e-6;

std::vector<double> yes_no(double yes) { return {yes, 1 - yes}; }

const Calibrator::Temperature* temperature_for(const Calibrator& calibrator, std::size_t options) {
  const auto of = [&](std::size_t n) {
    const auto found =
        std::ranges::find(calibrator.temperatures, n, &Calibrator::Temperature::options);
    return found == calibrator.temperatures.end() ? nullptr : &*found;
  };
  const Calibrator::Temperature* exact = of(options);
  return exact != nullptr ? exact : of(0);
}

std::optional<std::vector<double>> by_temperature(const Calibrator& calibrator,
                                                  std::span<const double> scores) {
  const Calibrator::Temperature* temperature = temperature_for(calibrator, scores.size());
  if (temperature == nullptr || scores.size() < 2) return std::nullopt;
  std::vector<double> z(scores.begin(), scores.end());
  if (calibrator.method == Method::LabelPrior) {
    if (calibrator.bias.size() != z.size()) return std::nullopt;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] += calibrator.bias[i];
  }
  std::vector<double> p = softmax(z, temperature->value);
  // Scores and a bias so large that their sum is not finite give no probabilities.
  if (!std::ranges::all_of(p, [](double v) { return std::isfinite(v); })) return std::nullopt;
  return p;
}

/// x: Platt's, and isotonic's where it is not by option; none for over two options.
std::optional<double> yes_score(std::span<const double> scores) {
  if (scores.size() > 2) return std::nullopt;
  return scores.size() == 1 ? scores[0] : scores[0] - scores[1];
}

std::optional<std::vector<double>> by_knots(const Calibrator& calibrator,
                                            std::span<const double> scores) {
  if (calibrator.knots.empty()) return std::nullopt;
  if (!calibrator.by_option) {
    const std::optional<double> x = yes_score(scores);
    return x ? std::optional(yes_no(interpolate(calibrator.knots, *x))) : std::nullopt;
  }
  if (scores.size() < 2) return std::nullopt;
  std::vector<double> p = softmax(scores);
  double sum = 0;
  for (double& v : p) {
    v = interpolate(calibrator.knots, v) + kTieBreak * v;
    sum += v;
  }
  for (double& v : p) v /= sum;
  return p;
}

}  // namespace

std::string_view to_string(Method method) {
  const auto found = std::ranges::find(kNames, method, &decltype(kNames)::value_type::first);
  DEEM_CHECK(found != kNames.end());
  return found->second;
}

std::optional<Method> parse_method(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &decltype(kNames)::value_type::second);
  return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

double interpolate(std::span<const Calibrator::Knot> knots, double x) {
  DEEM_CHECK(!knots.empty());
  const auto after = std::ranges::upper_bound(knots, x, {}, &Calibrator::Knot::x);
  if (after == knots.begin()) return knots.front().p;
  if (after == knots.end()) return knots.back().p;
  const Calibrator::Knot &a = *(after - 1), &b = *after;
  return a.p + (b.p - a.p) * (x - a.x) / (b.x - a.x);
}

std::optional<std::vector<double>> apply_calibrator(const Calibrator& calibrator,
                                                    std::span<const double> scores) {
  if (scores.empty()) return std::nullopt;
  switch (calibrator.method) {
    case Method::None:
      return std::nullopt;
    case Method::Temperature:
    case Method::LabelPrior:
      return by_temperature(calibrator, scores);
    case Method::Platt: {
      const std::optional<double> x = yes_score(scores);
      if (!x) return std::nullopt;
      return yes_no(1 / (1 + std::exp(-(calibrator.slope * *x + calibrator.offset))));
    }
    case Method::Isotonic:
      return by_knots(calibrator, scores);
  }
  return std::nullopt;
}

}  // namespace deem::decision

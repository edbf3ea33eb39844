#include "score/calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "score/resample.h"
#include "score/statistics.h"

namespace deem::score {
namespace {

std::size_t width_bin(double confidence, std::size_t bins) {
  return std::min(bins - 1, static_cast<std::size_t>(confidence * static_cast<double>(bins)));
}

/// How many answers are right in each bin if each is so with the probability it states.
double null_error(const std::vector<double>& confidences, const std::vector<std::size_t>& bin_of,
                  std::vector<ConfidenceBin> bins, Random& random) {
  for (ConfidenceBin& bin : bins) bin.correct = 0;
  for (std::size_t i = 0; i < confidences.size(); ++i) {
    if (random.unit() < confidences[i]) ++bins[bin_of[i]].correct;
  }
  return ece_of(bins);
}

}  // namespace

std::vector<ConfidenceBin> equal_width_bins(const Judged& judged, std::size_t bins) {
  std::vector<ConfidenceBin> out(bins);
  for (std::size_t i = 0; i < bins; ++i) {
    out[i].low = static_cast<double>(i) / static_cast<double>(bins);
    out[i].high = static_cast<double>(i + 1) / static_cast<double>(bins);
  }
  for (const Judged::Item& item : judged.items()) {
    const double p = judged.confidence(item);
    ConfidenceBin& bin = out[width_bin(p, bins)];
    ++bin.n;
    bin.correct += item.correct() ? 1U : 0U;
    bin.sum_p += p;
  }
  return out;
}

std::vector<ConfidenceBin> equal_mass_bins(const Judged& judged, std::size_t bins) {
  const std::size_t n = judged.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto confidence = [&](std::size_t i) { return judged.confidence(judged.items()[i]); };
  std::ranges::stable_sort(order, {}, confidence);
  const std::size_t count = std::min(bins, n);
  std::vector<ConfidenceBin> out(count);
  for (std::size_t b = 0, at = 0; b < count; ++b) {
    ConfidenceBin& bin = out[b];
    bin.n = n / count + (b < n % count ? 1 : 0);
    bin.low = confidence(order[at]);
    for (const std::size_t end = at + bin.n; at < end; ++at) {
      bin.correct += judged.items()[order[at]].correct() ? 1U : 0U;
      bin.sum_p += confidence(order[at]);
    }
    bin.high = confidence(order[at - 1]);
  }
  return out;
}

double ece_of(const std::vector<ConfidenceBin>& bins) {
  double error = 0, n = 0;
  for (const ConfidenceBin& bin : bins) {
    error += std::abs(bin.sum_p - static_cast<double>(bin.correct));
    n += static_cast<double>(bin.n);
  }
  return n == 0 ? 0 : error / n;
}

std::optional<CalibrationError> calibration_error(const Judged& judged, std::uint64_t seed) {
  if (judged.empty()) return std::nullopt;
  constexpr std::size_t kBins = CalibrationError::kBins;
  const auto bins = equal_width_bins(judged, kBins);
  CalibrationError out{.equal_width = ece_of(bins),
                       .equal_mass = ece_of(equal_mass_bins(judged, kBins))};
  std::vector<double> confidences;
  std::vector<std::size_t> bin_of;
  confidences.reserve(judged.size());
  bin_of.reserve(judged.size());
  for (const Judged::Item& item : judged.items()) {
    confidences.push_back(judged.confidence(item));
    bin_of.push_back(width_bin(confidences.back(), kBins));
  }
  Random random(seed);
  std::vector<double> errors(kCalibrationDraws);
  for (double& error : errors) error = null_error(confidences, bin_of, bins, random);
  out.null_mean =
      std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  out.null_p95 = *percentile(std::move(errors), 9'500);
  return out;
}

}  // namespace deem::score

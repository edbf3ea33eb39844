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

/// Draws answers that are right with the probability they state. Half a random word decides each,
/// so a draw costs about as much as a comparison.
class NullDraws {
 public:
  NullDraws(const Judged& judged, const std::vector<ConfidenceBin>& bins) : bins_(bins) {
    std::vector<std::vector<std::uint64_t>> by_bin(bins.size());
    for (const Judged::Item& item : judged.items()) {
      const double p = judged.confidence(item);
      by_bin[width_bin(p, bins.size())].push_back(static_cast<std::uint64_t>(p * 0x1p32));
    }
    for (const auto& limits : by_bin) limits_.insert(limits_.end(), limits.begin(), limits.end());
  }

  /// The error of one data set. Answers are drawn bin by bin, in each in the order given; a word's
  /// lower half comes first.
  double next_error(Random& random) {
    std::size_t at = 0;
    std::uint64_t word = 0;
    for (ConfidenceBin& bin : bins_) {
      bin.correct = 0;
      for (const std::size_t end = at + bin.n; at < end; ++at) {
        word = at % 2 == 0 ? random.next() : word >> 32;
        bin.correct += (word & 0xffffffffU) < limits_[at] ? 1U : 0U;
      }
    }
    return ece_of(bins_);
  }

 private:
  std::vector<ConfidenceBin> bins_;
  std::vector<std::uint64_t> limits_;  // p · 2^32, by bin
};

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
  NullDraws draws(judged, bins);
  Random random(seed);
  std::vector<double> errors(kCalibrationDraws);
  for (double& error : errors) error = draws.next_error(random);
  out.null_mean =
      std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  out.null_p95 = *percentile(std::move(errors), 9'500);
  return out;
}

}  // namespace deem::score

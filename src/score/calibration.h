#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "score/judged.h"

namespace deem::score {

/// One bin of answers by their confidence (the probability of what was answered).
struct ConfidenceBin {
  double low = 0, high = 0;  // equal width: its edges; equal mass: its least and largest confidence
  std::size_t n = 0, correct = 0;
  double sum_p = 0;
};

/// Bins of equal width: [i/bins, (i+1)/bins), the last one closed at 1. Empty ones are there.
std::vector<ConfidenceBin> equal_width_bins(const Judged& judged, std::size_t bins);

/// Bins of equal count: answers in order of confidence (equal ones in the order given) cut into
/// `bins` runs whose sizes differ by one at most, the longer ones first; fewer when there are fewer
/// answers.
std::vector<ConfidenceBin> equal_mass_bins(const Judged& judged, std::size_t bins);

/// Expected calibration error: Σ n/N · |mean confidence − share right| over bins with answers.
double ece_of(const std::vector<ConfidenceBin>& bins);

/// Both errors over 15 bins, and what they would be if every confidence were exactly right: with
/// few answers a calibrated model shows an error too.
struct CalibrationError {
  static constexpr std::size_t kBins = 15;
  double equal_width = 0, equal_mass = 0;
  // Of `kDraws` data sets of the same confidences whose answers are right with that probability
  // (consistency resampling, Bröcker & Smith 2007), for equal width: mean and 95th percentile.
  double null_mean = 0, null_p95 = 0;
};
inline constexpr std::size_t kCalibrationDraws = 1'000;
std::optional<CalibrationError> calibration_error(const Judged& judged, std::uint64_t seed);

}  // namespace deem::score

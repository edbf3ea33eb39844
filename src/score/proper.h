#pragma once

#include <cstddef>
#include <optional>

#include "score/judged.h"

namespace deem::score {

/// The multi-class Brier score, a mean per item between 0 and 2, in parts that add up to it:
/// brier = reliability − resolution + uncertainty + within_bins.
/// Every (item, option) pair is a forecast p of the event "this option is right"; pairs are put in
/// equal-width bins of p ([i/15, (i+1)/15), the last one closed); sums over pairs are divided by
/// items. Murphy 1973; the remainder within bins as in Stephenson, Coelho & Jolliffe 2008.
struct BrierParts {
  double brier = 0;
  double reliability = 0;  // squared distance of forecast and frequency, 0 best
  double resolution = 0;  // squared distance of a bin's frequency from the base rate, larger better
  double uncertainty = 0;  // of the events alone
  double within_bins = 0;  // what the bins' width hides
};
/// None when there are no items.
std::optional<BrierParts> brier_parts(const Judged& judged);

/// Mean −ln of the probability of the right option, which is taken as `clip` where it is less (and
/// for a label that is no option). `clipped` says how often.
struct LogLoss {
  static constexpr double kClip = 1e-6;
  double mean = 0;
  std::size_t clipped = 0;
};
std::optional<LogLoss> log_loss(const Judged& judged);

}  // namespace deem::score

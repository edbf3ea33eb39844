#include "score/proper.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace deem::score {

std::optional<BrierParts> brier_parts(const Judged& judged) {
  if (judged.empty()) return std::nullopt;
  constexpr std::size_t kBins = 15;
  struct Bin {
    double n = 0, p = 0, events = 0, p2 = 0, p_events = 0;
  };
  std::array<Bin, kBins> bins{};
  double off_list = 0;  // a label that is no option: an event without a forecast
  double squares = 0;
  for (const Judged::Item& item : judged.items()) {
    const auto probs = judged.probs(item);
    for (std::size_t i = 0; i < probs.size(); ++i) {
      const double p = probs[i], event = i == item.label ? 1 : 0;
      Bin& bin = bins[std::min(kBins - 1, static_cast<std::size_t>(p * kBins))];
      ++bin.n;
      bin.p += p;
      bin.events += event;
      bin.p2 += p * p;
      bin.p_events += p * event;
      squares += (p - event) * (p - event);
    }
    if (item.label == item.options) ++off_list;
  }
  double pairs = 0, events = 0;
  for (const Bin& bin : bins) {
    pairs += bin.n;
    events += bin.events;
  }
  const auto items = static_cast<double>(judged.size());
  const double base = events / pairs;
  BrierParts out;
  out.brier = (squares + off_list) / items;
  for (const Bin& bin : bins) {
    if (bin.n == 0) continue;
    const double p = bin.p / bin.n, frequency = bin.events / bin.n;
    out.reliability += bin.n * (p - frequency) * (p - frequency) / items;
    out.resolution += bin.n * (frequency - base) * (frequency - base) / items;
    const double variance = bin.p2 - bin.n * p * p;
    const double covariance = bin.p_events - bin.n * p * frequency;
    out.within_bins += (variance - 2 * covariance) / items;
  }
  out.uncertainty = (pairs * base * (1 - base) + off_list) / items;
  return out;
}

std::optional<LogLoss> log_loss(const Judged& judged) {
  if (judged.empty()) return std::nullopt;
  LogLoss out;
  for (const Judged::Item& item : judged.items()) {
    double p = item.label < item.options ? judged.probs(item)[item.label] : 0;
    if (p < LogLoss::kClip) {
      p = LogLoss::kClip;
      ++out.clipped;
    }
    out.mean -= std::log(p);
  }
  out.mean /= static_cast<double>(judged.size());
  return out;
}

}  // namespace deem::score

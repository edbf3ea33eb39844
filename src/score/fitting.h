#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "decision/calibrator.h"
#include "score/raw_sample.h"

namespace deem::score {

/// Fits the constants of `method` on the answered items of `items` whose label is an option:
/// - temperature: least mean log loss against targets 1 − 1/(N+2) for the label, the rest shared by
///   the others (so that a model that is always right does not get T = 0); one for all items, and
///   one for each number of options that has kOwnTemperature items. Guo et al. 2017.
/// - label-prior: bias −ln of the mean softmax(z) of each option, by position (no label is used;
///   "batch calibration", Zhou et al. 2023), then a temperature. All items must have as many
///   options.
/// - platt: two options or a bare score; slope and offset of least log loss against the targets
///   (N₊+1)/(N₊+2) and 1/(N₋+2) (Platt 1999); a slope below zero becomes zero.
/// - isotonic: pool adjacent violators on x (all items of two options, or bare) or on all options'
///   p = softmax(z), N points; values held to [1/2N, 1 − 1/2N].
/// None where the method does not suit the items, or none are left.
std::optional<decision::Calibrator> fit(const RawSample& sample, RawSample::Indices items,
                                        decision::Calibrator::Method method);
inline constexpr std::size_t kOwnTemperature = 30;

/// Which methods are tried on a sample: None where the reading has probabilities of its own,
/// temperature, label-prior (over two options, all alike), Platt (two options or bare), isotonic
/// from kIsotonic items on.
std::vector<decision::Calibrator::Method> methods_for(const RawSample& sample);
inline constexpr std::size_t kIsotonic = 200;

/// Means over items, log loss with the right option's p not below LogLoss::kClip.
struct Losses {
  double n = 0, right = 0, brier = 0, log_loss = 0;  // sums
  void add(std::span<const double> probs, const RawSample::Item& item);
  void add(const Losses& other);
};
/// None when the calibrator does not suit one of the items.
std::optional<Losses> losses(const RawSample& sample, RawSample::Indices items,
                             const decision::Calibrator& calibrator);

/// The method with the least held-out log loss over kFolds parts (by state), fitted on all items.
struct BestFit {
  decision::Calibrator calibrator = {};
  Losses held_out = {};  // of the method, each part predicted by a fit on the others
};
inline constexpr std::size_t kFolds = 5;
/// A fit whose log loss on its own items is above that of Method::None is not taken. None: no
/// method suits.
std::optional<BestFit> fit_best(const RawSample& sample, RawSample::Indices items,
                                const std::vector<decision::Calibrator::Method>& methods,
                                std::uint64_t seed);

}  // namespace deem::score

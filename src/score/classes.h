#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace deem::score {

/// One answer by class, where every item of a task has the same options.
struct ClassPair {
  std::size_t said = 0;
  std::size_t right = 0;
};

/// Mean recall over the classes that are some item's label (sklearn's balanced_accuracy_score).
/// None when there are no pairs.
std::optional<double> balanced_accuracy(std::span<const ClassPair> pairs);

/// Mean F1 over the classes that are said or right at least once; a class without a hit has 0
/// (sklearn's f1_score, average="macro", zero_division=0). None when there are no pairs.
std::optional<double> macro_f1(std::span<const ClassPair> pairs);

// Ordered classes, 0 lowest (score items).

/// Mean |said − right|, in levels. None when there are no pairs.
std::optional<double> mean_absolute_error(std::span<const ClassPair> pairs);

/// Share with |said − right| ≤ 1. None when there are no pairs.
std::optional<double> within_one(std::span<const ClassPair> pairs);

/// Cohen's kappa with quadratic weights: 1 − Σ w·observed / Σ w·expected, w = (i − j)². None when
/// there are no pairs or what is expected by chance has no disagreement (all in one class).
std::optional<double> quadratic_weighted_kappa(std::span<const ClassPair> pairs);

/// Ranked probability score of one answer: Σ over levels of (cumulated p − cumulated truth)²,
/// divided by (levels − 1); 0 is best, 1 worst. Requires two levels or more and right < levels.
double ranked_probability_score(std::span<const double> probs, std::size_t right);

}  // namespace deem::score

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decision/calibrator.h"

namespace deem::score {

/// Labelled items with a reading's raw scores: what calibration is fitted on. An item the reading
/// gave no answer for may be kept, as an item without scores: it is never fitted on, and answers
/// with equal probabilities, wrong.
class RawSample {
 public:
  struct Item {
    std::size_t first = 0;      // of its scores
    std::uint32_t scores = 0;   // options, 1 for a bare score, 0 when not answered
    std::uint32_t options = 0;  // of the question
    std::uint32_t label = 0;    // index of the right option; `options` when it is none of them
    std::uint32_t cluster = 0;  // items on one state share it
    std::size_t first_default = 0;
    std::uint32_t defaults = 0;  // probabilities by the reading's own constants; 0: it has none
  };
  using Indices = std::span<const std::size_t>;

  /// `scores`: one an option, one for a bare score, or none. `probs`: by the reading's own
  /// constants, or none. Requires label ≤ options, clusters counted from 0.
  void add(std::span<const double> scores, std::size_t options, std::size_t label,
           std::size_t cluster, std::span<const double> probs);

  std::size_t size() const { return items_.size(); }
  const Item& item(std::size_t i) const { return items_[i]; }
  std::span<const double> scores(const Item& item) const {
    return std::span(scores_).subspan(item.first, item.scores);
  }
  std::size_t clusters() const { return clusters_; }
  std::vector<std::size_t> all() const;
  bool is_bare() const;  // some answered item has one score for several options

  /// What a calibrator makes of item `i`. Method::None gives the reading's own probabilities. None
  /// where it does not suit an answered item; equal probabilities for one without an answer.
  std::optional<std::vector<double>> probs(std::size_t i,
                                           const decision::Calibrator& calibrator) const;

 private:
  std::vector<Item> items_;
  std::vector<double> scores_, defaults_;
  std::size_t clusters_ = 0;
};

/// Which of `folds` parts each cluster is held out in: clusters in seeded random order, each to the
/// part with fewest items so far. Fewer parts when there are fewer clusters.
std::vector<std::size_t> assign_folds(const RawSample& sample, RawSample::Indices items,
                                      std::size_t folds, std::uint64_t seed);

/// The items of `items` inside and outside part `fold`.
struct Split {
  std::vector<std::size_t> train, held_out;
};
Split split(const RawSample& sample, RawSample::Indices items,
            std::span<const std::size_t> fold_of_cluster, std::size_t fold);

}  // namespace deem::score

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/row.h"
#include "score/answer.h"
#include "score/calibration.h"
#include "score/classes.h"
#include "score/judged.h"
#include "score/proper.h"
#include "score/resample.h"
#include "score/selective.h"
#include "score/statistics.h"

namespace deem::score {

/// Accuracy and Brier of some of the answers.
struct Slice {
  std::string by = {};     // "kind", "language", "options", "gold position", "state length"
  std::string value = {};  // "near_miss", "12", "1" (counted from 1)
  Rate accuracy = {};
  double brier = 0;
};

/// Acting only where the answer's probability is at least `threshold`.
struct ActAbove {
  double threshold = 0;
  double coverage = 0;  // share of the answers
  Rate accuracy = {};
};

/// The least threshold above which `accuracy` is reached in these very answers, and the one above
/// which the lower end of its 95 % Wilson interval reaches it. None: no threshold does.
struct ThresholdFor {
  double accuracy = 0;
  std::optional<ActAbove> reached = {}, sure = {};
};

/// Means of what goes by the name of confidence (decision/readout.h).
struct Confidences {
  double top_p = 0, margin = 0, entropy = 0;
  double typesafe = 0;  // the choice or the score formula, by the item's type
};

/// Score items: levels, 0 lowest.
struct Levels {
  std::size_t n = 0;
  double mean_absolute_error = 0, within_one = 0;
  std::optional<double> quadratic_weighted_kappa = {};
  double ranked_probability_score = 0;
  double expectation_error = 0;  // mean |Σ i·p_i − label|
  double expectation_bias = 0;   // mean of Σ i·p_i − label
};

/// What labelled answers with probabilities say beyond accuracy and Brier score.
struct Detail {
  std::size_t n = 0;
  std::size_t states = 0;  // clusters of the bootstrap
  std::optional<Interval> accuracy_bootstrap = {}, brier_bootstrap = {};  // by state
  std::optional<double> balanced_accuracy = {}, macro_f1 = {};  // items with the same options only
  std::optional<BrierParts> brier = {};
  std::optional<LogLoss> log_loss = {};
  std::optional<CalibrationError> calibration = {};
  std::optional<double> aurc = {};
  std::vector<ActAbove> act_above = {};
  std::vector<ThresholdFor> threshold_for = {};
  std::optional<Confidences> confidence = {};
  std::optional<Levels> levels = {};
  std::vector<Slice> slices = {};
};

/// Seed of every resampling of the figures; stored with them.
inline constexpr std::uint64_t kScoreSeed = 1;

/// Gathers the labelled answers of one column, then works the figures out.
class Sample {
 public:
  /// `label` is the right option's index, row.keys.size() when it is none of them. Requires
  /// probabilities.
  void add(const record::Row& row, const Answer& answer, std::size_t label);
  Detail finish(std::uint64_t seed = kScoreSeed) const;

 private:
  struct SliceSums {
    std::size_t hits = 0, n = 0;
    double brier = 0;
  };
  void add_slice(const char* by, std::string value, bool right, double brier);

  Judged judged_;
  std::map<std::string, std::size_t> states_;
  std::vector<ClusterSums> clusters_;
  std::vector<std::string> keys_;  // of the first item
  bool same_keys_ = true;
  std::vector<ClassPair> classes_, levels_;
  double ranked_ = 0, expectation_error_ = 0, expectation_bias_ = 0;
  Confidences confidence_;
  std::map<std::pair<std::string, std::string>, SliceSums> slices_;
};

}  // namespace deem::score

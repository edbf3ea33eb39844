#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/fit.h"
#include "record/row.h"
#include "score/compare.h"
#include "score/fitting.h"
#include "score/resample.h"

namespace deem::score {

struct CalibrateOptions {
  std::vector<ColumnName> columns = {};                     // empty: all
  std::optional<decision::Calibrator::Method> method = {};  // none: the best by held-out log loss
  std::uint64_t seed = kScoreSeed;
};

/// What one method gives on items it was not fitted on: kFolds parts by state (or task), each
/// predicted by a fit on the others.
struct MethodFigures {
  decision::Calibrator::Method method = decision::Calibrator::Method::None;
  record::FitFigures held_out = {};
  // Held out minus the reading's own constants on the same items; by state. Negative is better.
  std::optional<Interval> brier_difference = {}, log_loss_difference = {};
};

/// One column on one task, or on all tasks of a type and number of options (task "").
struct Calibrated {
  ColumnName column = {};
  std::size_t unanswered = 0;  // left out: nothing can be fitted on them
  std::string refused = {};    // why there is no fit; "" when there is
  std::vector<MethodFigures> tried = {};
  std::optional<MethodFigures> picked = {};  // choosing the method included: it is picked anew
                                             // without each part
  // Mean log loss on the very items; after ≤ before. No `before` where the reading has no
  // constants of its own (a bare score).
  std::optional<double> own_before = {};
  double own_after = 0;
  record::FitEntry entry = {};  // its calibrator fitted on all items
};

/// Fits every column on every task of its arm, then on all items of a type and number of options
/// where several tasks have them. Repeats of an item are no further evidence, so only the first
/// counts. Pure; the same rows and seed give the same constants.
std::vector<Calibrated> calibrate(std::span<const record::Row> rows,
                                  const CalibrateOptions& options = {});

}  // namespace deem::score

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/fit.h"
#include "record/row.h"
#include "score/calibration.h"
#include "score/compare.h"
#include "score/judged.h"
#include "score/proper.h"
#include "score/raw_sample.h"

namespace deem::score {

/// Least labelled items, and states they lie on, for anything to be fitted or chosen.
inline constexpr std::size_t kLeastItems = 30;
inline constexpr std::size_t kLeastStates = 5;

/// Why `items` on `states` are too few, or "".
std::string too_few(std::size_t items, std::size_t states);

/// The columns that rows hold, in their order: every arm, reading and variant.
std::vector<ColumnName> columns_of(std::span<const record::Row> rows);

/// Which item a row is of: task, id and repeat.
struct ItemName {
  std::string task = {}, id = {};
  int repeat = 0;
  auto operator<=>(const ItemName&) const = default;
};

/// One column's labelled items as calibration takes them.
struct FitSample {
  RawSample sample = {};
  std::vector<ItemName> names = {};
  decision::QuestionType type = decision::QuestionType::Choice;
  std::string mode = {}, policy = {}, prompt_digest = {};
  std::size_t unanswered = 0;  // asked, and no answer of this column
  std::size_t options = 0;     // of the first item
  // Of each item, priors' time included; none where it has no answer or the seat counted no tokens.
  std::vector<std::optional<double>> seconds = {}, tokens = {};
};

/// Labelled rows of `column` on `task` in the order given. Clusters are the states, counted as they
/// come. Rows that were refused, or that lack the reading, are left out; those it gave no answer
/// for are kept, unanswered.
FitSample fit_sample(std::span<const record::Row* const> rows, const ColumnName& column);

/// Figures of what was predicted for labelled items; `clusters` resampled for the intervals.
record::FitFigures figures_of(const Judged& judged, std::uint64_t seed);

/// Adds what `calibrator` makes of item `i`. An item without an answer counts as wrong. Requires
/// that the calibrator suits it.
void add_judged(Judged& out, const RawSample& sample, std::size_t i,
                const decision::Calibrator& calibrator);

}  // namespace deem::score

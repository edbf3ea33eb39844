#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "record/row.h"
#include "score/fit_sample.h"
#include "score/fitting.h"

namespace deem::score {

/// A column on the items that all columns share, in one order.
struct Aligned {
  ColumnName name = {};
  FitSample from = {};  // as asked; `unanswered` of the shared items
  RawSample sample = {};
  std::vector<decision::Calibrator::Method> methods = {};
  bool own = false;                               // has probabilities by its own constants
  std::vector<double> seconds = {}, tokens = {};  // of those answered
};

struct Alignment {
  std::vector<Aligned> columns = {};
  std::set<ItemName> items = {};
  std::size_t states = 0, left_out = 0;  // left out: items over the limit
  std::vector<std::string> notes = {};   // columns and items left out for want of askers
};

/// The columns asked nine tenths or more of the labelled items of `rows` (of one task), on the
/// items all of these were asked; beyond `most_items` whole states are left out in seeded order.
Alignment align_columns(std::span<const record::Row* const> rows,
                        const std::vector<ColumnName>& names, std::size_t most_items,
                        std::uint64_t seed);

}  // namespace deem::score

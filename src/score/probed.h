#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/row.h"
#include "score/answer.h"
#include "score/statistics.h"

namespace deem::score {

/// An item with what probes asked of it.
struct ProbedItem {
  const record::Row* plain = nullptr;
  std::map<std::string, const record::Row*> probes = {};  // by name
};

/// The items of one arm that a probe asked and whose plain row is there, in the order of `rows`.
/// Rows of the probe "sustained" are repeats of the plain ones, no probes of an item.
struct ProbedArm {
  std::string arm = {};
  std::vector<ProbedItem> items = {};
};
std::vector<ProbedArm> probed_arms(std::span<const record::Row> rows);

/// The reading × variant columns that probe rows of the arm have, where `wanted` takes the probe.
struct ReadingVariant {
  std::string reading = {}, variant = {};
  auto operator<=>(const ReadingVariant&) const = default;
};
std::vector<ReadingVariant> probed_columns(const ProbedArm& arm,
                                           bool (*wanted)(std::string_view probe));

/// What a row says, by the options of `plain` in their order there. None where it says nothing,
/// gives a bare score, or has other options.
struct Said {
  std::vector<double> probs = {};
  std::size_t choice = 0;  // by the row's own order: the first of equals there
  std::size_t place = 0;   // where the choice stood
};
std::optional<Said> said(const record::Row* row, const record::Row& plain,
                         const ReadingVariant& column);

/// The largest |a − b| over the options. Requires equal sizes.
double largest_change(std::span<const double> a, std::span<const double> b);

/// Running mean and maximum.
struct Spread {
  std::size_t n = 0;
  double sum = 0, max = 0;
  void add(double value);
  std::optional<double> mean() const;
  std::optional<double> largest() const;
};

}  // namespace deem::score

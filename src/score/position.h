#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "score/probed.h"
#include "score/resample.h"

namespace deem::score {

/// Accuracy and Brier score of one way to answer the same labelled items.
struct WayToAnswer {
  Rate accuracy = {};
  std::optional<double> brier = {};
  std::optional<Interval> brier_95 = {};  // bootstrap by state
};

/// What the order of the options does to the answers of one column, on one task ("" : all).
/// Items: those answered in the kit's order and under one further order at least.
struct PositionFigures {
  std::string task = {};
  std::size_t n = 0;
  std::size_t complete = 0;        // of them, answered under each of the n! orders there are
  std::size_t orders = 0;          // answers under further orders
  std::size_t unanswered = 0;      // further orders asked that gave none
  std::vector<Rate> by_gold = {};  // accuracy by the gold option's position, over all orders
  std::vector<Rate> said_at = {};  // share of all answers given to a position
  Rate flipped_items = {};         // whose choice differs under at least one order
  Rate flipped_orders = {};        // of all further orders
  Rate reverse_flips = {};
  std::optional<double> max_change = {}, median_change = {};  // of one option's probability
  // The labelled of the items.
  std::size_t labelled = 0;
  std::optional<double> uniform_accuracy = {};
  WayToAnswer plain = {};              // in the kit's order
  WayToAnswer averaged = {};           // mean over the orders of the probabilities, tempered before
  WayToAnswer averaged_logprobs = {};  // mean of the logprobs, tempered after
  WayToAnswer reversed = {};           // on those answered in reverse; its n may be less
};

struct PositionColumn {
  std::string arm = {}, reading = {}, variant = {};
  std::vector<PositionFigures> tasks = {};
  PositionFigures all = {};
};

/// The letters' own distribution on the empty state, by position.
struct LabelPrior {
  std::string arm = {}, reading = {};
  std::size_t rows = 0;
  std::vector<double> p = {};  // mean of softmax(logprobs), one for each letter
};

std::vector<PositionColumn> position_figures(const std::vector<ProbedArm>& arms);

/// Over plain rows and orders, a line for each number of options.
std::vector<LabelPrior> label_priors(std::span<const record::Row> rows);

}  // namespace deem::score

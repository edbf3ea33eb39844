#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/fit.h"
#include "record/row.h"
#include "score/compare.h"
#include "score/fitting.h"
#include "score/resample.h"
#include "score/statistics.h"

namespace deem::score {

/// What the best reading is best by; all but accuracy reward honest probabilities.
enum class Criterion { Brier, LogLoss, Accuracy };
std::string_view to_string(Criterion criterion);
std::optional<Criterion> parse_criterion(std::string_view name);

struct ChooseOptions {
  Criterion by = Criterion::Brier;
  bool cheapest = false;  // of those within the noise of the best, the one that takes least time
  std::uint64_t seed = kScoreSeed;
  std::size_t most_items = 2'000;  // of a task; more are left out by whole states, seeded
};

/// One way of reading a task: a column, with its own constants or with fitted ones.
struct Candidate {
  ColumnName column = {};
  std::string mode = {};
  bool fitted = false;
  decision::Calibrator calibrator = {};  // fitted on all items; Method::None: own constants
  record::FitFigures held_out = {};      // each part predicted by a fit on the others; no answer is
                                         // wrong, with equal probabilities
  std::size_t unanswered = 0;
  std::optional<double> median_s = {}, mean_tokens = {};  // of one decision, its priors included
  // Its criterion minus the best one's on the same items, by state; above 0 is worse.
  double behind = 0;
  std::optional<Interval> behind_interval = {};
  bool within_noise = false;  // of the best: the interval reaches 0
  std::size_t chosen_in = 0;  // parts without which it would have been chosen
};

/// Programs without a model, on the same items.
struct NoModel {
  double uniform = 0, majority = 0;  // accuracy
  std::optional<double> overlap = {};
  double uniform_brier = 0, prior_brier = 0;
};

/// What was found for one task.
struct Choice {
  std::string task = {};
  std::string refused = {};                     // why nothing was chosen; "" when something was
  std::size_t n = 0, states = 0, left_out = 0;  // items, their states; items over most_items
  std::vector<Candidate> candidates = {};       // best first
  std::size_t cheapest = 0;                     // index: least time of those within the noise
  std::size_t chosen = 0;                       // index: 0, or `cheapest` where that was asked for
  // Choosing itself held out: each part answered by what the others would have chosen.
  record::FitFigures procedure = {};
  double price = 0;  // criterion of `procedure` minus the best candidate's own; above 0: what the
                     // best one's figure flatters
  std::size_t parts = 0;  // of the items, by state
  // Labelled items at which the best and the next reading (another column) would be told apart in
  // 80 % of the cases, if the difference is what it looks like. None: no other, or no difference.
  std::optional<double> items_needed = {};
  std::optional<std::size_t> next = {};  // that other candidate
  NoModel no_model = {};
  record::FitEntry entry = {};  // of the chosen candidate, fitted on all items
  std::vector<std::string> notes = {};
};

/// Every column of `rows`, raw and fitted, held against the others on the items of each task that
/// all of them were asked. Columns asked fewer than nine tenths of a task's items are left out and
/// named. Pure. The rows should be of one model.
std::vector<Choice> choose(std::span<const record::Row> rows, const ChooseOptions& options = {});

}  // namespace deem::score

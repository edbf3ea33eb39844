#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "score/score_rows.h"

namespace deem::score {

/// The baseline a column must beat.
struct BestBaseline {
  std::string name = {};  // "uniform", "prior", "keyword overlap"
  Rate accuracy = {};     // of uniform only the value
};
/// Of the baselines on the same labelled items the most accurate; none when nothing is labelled.
std::optional<BestBaseline> best_baseline(const Figures& figures);

/// The column to look at first on a task.
struct Lead {
  std::string task = {};
  std::size_t column = 0;  // index into Scores::columns: the most accurate
  std::optional<std::size_t> rival =
      {};  // the most accurate of another arm or reading, of half as many answers at least
};

/// One for each task that has a column with labelled probabilities, in the order of
/// `scores.tasks`. More accurate is better, then the lower Brier score, then the lower median time,
/// then the earlier column. A column that answered under half as many labelled items as the one
/// that answered most is no lead (it would win by refusing), unless there is no other.
std::vector<Lead> find_leads(const Scores& scores);

/// The columns of a task from best to worst in that order, `task` "" meaning all together. With
/// `one_a_reading`, of each arm and reading only its best variant.
std::vector<std::size_t> ranked_columns(const Scores& scores, const std::string& task,
                                        bool one_a_reading);

/// The figures of a column on a task ("" : all); nullptr when it has none.
const Figures* figures_on(const Column& column, const std::string& task);

}  // namespace deem::score

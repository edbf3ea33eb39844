#pragma once

// Private to report: which plots a page has.

#include <string>
#include <vector>

#include "report/plot.h"
#include "score/evidence.h"
#include "score/score_rows.h"

namespace deem::report {

/// Plots of one kind, one for each task, and what is said about them.
struct PlotGroup {
  std::string id = {}, title = {}, explanation = {};
  std::vector<Plot> plots = {};
};

/// How each column looks: the leads first, then the best of each reading, then the rest.
std::vector<ColumnStyle> find_styles(const score::Scores& scores, const score::Evidence& evidence);

/// Tasks that get plots: all, or the first kMostTasks.
inline constexpr std::size_t kMostTasks = 12;

/// Frontier, reliability, risk and coverage, latency, gold position; groups without plots left out.
std::vector<PlotGroup> make_plots(const score::Scores& scores, const score::Evidence& evidence);

}  // namespace deem::report

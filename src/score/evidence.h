#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/row.h"
#include "score/curves.h"
#include "score/leads.h"
#include "score/score_rows.h"

namespace deem::score {

/// What a report shows beside figures: curves, and single answers to look at.

struct TaskCurves {
  std::string task = {};                       // "" : all
  std::vector<CurvePoint> risk_coverage = {};  // empty for a bare score
  std::vector<CurvePoint> latency = {};        // seconds from the planned send
};

/// Curves of one column: all tasks first, then each in the order of the column's figures.
struct ColumnCurves {
  std::vector<TaskCurves> tasks = {};
};

/// A wrong answer of a task's lead.
struct Mistake {
  std::size_t row = 0;       // index into the rows
  std::size_t column = 0;    // index into Scores::columns
  std::string reading = {};  // of the row, that the column took here
  std::string said = {}, label = {};
  double p = 0, p_label = 0;  // of what was said, of what was right (0 when it is no option)
};

/// An item on which lead and rival say different things.
struct Differing {
  std::size_t row_a = 0, row_b = 0;            // indices into the rows
  std::string reading_a = {}, reading_b = {};  // of the rows
  std::string said_a = {}, said_b = {};
  double p_a = 0, p_b = 0;
  std::optional<std::string> label = {};
};

/// A task's lead (a) against its rival (b) on the items that both answered.
struct Contest {
  std::string task = {};
  std::size_t a = 0, b = 0;  // indices into Scores::columns
  std::size_t n = 0, differ = 0;
  std::size_t labelled = 0, right_a = 0, right_b = 0;  // right_a: right there, wrong in the other
  double p = 1;                                        // McNemar, exact, over the labelled
  std::vector<Differing> shown = {};
};

struct Evidence {
  std::vector<Lead> leads = {};
  std::vector<ColumnCurves> curves = {};  // one a column
  std::vector<Mistake> mistakes = {};     // of each lead, the most confident first
  std::size_t wrong = 0;                  // answers of leads that are wrong, shown or not
  std::vector<Contest> contests = {};
};

struct EvidenceLimits {
  std::size_t points = 400;  // of a curve
  std::size_t shown = 50;    // mistakes in all, and differing items in all
};

/// Pure. `scores` must be of the same rows and fits. Rows with a probe are left out.
Evidence find_evidence(std::span<const record::Row> rows, const Scores& scores,
                       const Fits& fits = {}, EvidenceLimits limits = {});

}  // namespace deem::score

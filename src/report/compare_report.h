#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "score/compare.h"
#include "score/gate.h"

namespace deem::report {

/// One pair of columns.
struct PairReport {
  std::string a = {}, b = {};  // their names, with the run where there are several
  score::Compared result = {};
  double holm_p = 1;  // of `result.all`, adjusted for all pairs
  std::vector<std::pair<score::Gate, score::GateResult>> gates = {};
  score::ComparedJoules joules = {};
  bool told_joules = false;      // a run says something of its joules, if only why it has none
  bool joules_shown = false;     // by a pair before it of the same two arms
  std::string unlike_work = {};  // why times and joules are not of the same work; "" where they are
};

/// A column by what it costs and what it gives.
struct FrontierPoint {
  std::string name = {};
  double accuracy = 0, median_s = 0;
  std::optional<double> joules = {};             // net, a decision, where valid
  std::optional<double> cost = {};               // of 1,000 decisions, in the currency of --cost
  std::optional<std::size_t> dominated_by = {};  // one as good or better in all, better in one
};
/// Fills in `dominated_by`: the most accurate of those that dominate it. Costs and joules count
/// between points that both have them.
void find_frontier(std::vector<FrontierPoint>& points);

struct CompareReport {
  std::vector<PairReport> pairs = {};
  std::vector<FrontierPoint> frontier = {};
  std::vector<std::string> notes = {};
  std::size_t disagreements = 10;  // shown of each pair; JSON has all
};

std::string as_text(const CompareReport& report, std::size_t width, bool colour);
std::string as_markdown(const CompareReport& report);
/// Schema "deem.compare/1"; docs/formats/compare.md.
std::string as_json(const CompareReport& report);

}  // namespace deem::report

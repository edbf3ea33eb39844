#include "score/evidence.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/chance.h"
#include "score/answer.h"
#include "score/compare.h"
#include "score/judged.h"

namespace deem::score {
namespace {

using record::ReadingRecord;
using record::Row;

/// Plain rows by arm and task.
class Index {
 public:
  explicit Index(std::span<const Row> rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].probe.empty()) of_[{rows[i].arm, rows[i].task}].push_back(i);
    }
  }
  const std::vector<std::size_t>& rows(const std::string& arm, const std::string& task) const {
    static const std::vector<std::size_t> kNone;
    const auto found = of_.find({arm, task});
    return found == of_.end() ? kNone : found->second;
  }

 private:
  std::map<std::pair<std::string_view, std::string_view>, std::vector<std::size_t>> of_;
};

/// A column's reading of a row and its answer; nothing for a refused row.
InColumn given(const Row& row, const Column& column, const Fits& fits) {
  if (row.status == Row::Status::Refused) return {};
  return in_column(row, column.reading, column.variant, fit_of(fits, column.arm));
}

/// What is collected of one column on one task, or on all.
struct Samples {
  Judged judged = {};
  std::vector<double> seconds = {};

  TaskCurves finish(std::string task, std::size_t points) {
    return {.task = std::move(task),
            .risk_coverage = thinned(risk_coverage_points(RiskCoverage(judged)), points),
            .latency = thinned(ecdf_points(std::move(seconds)), points)};
  }
};

ColumnCurves find_curves(std::span<const Row> rows, const Index& index, const Column& column,
                         const Fits& fits, std::size_t points) {
  ColumnCurves out;
  Samples all;
  out.tasks.emplace_back();
  for (const Figures& figures : column.tasks) {
    Samples one;
    for (const std::size_t i : index.rows(column.arm, figures.task)) {
      const Row& row = rows[i];
      const InColumn found = given(row, column, fits);
      const ReadingRecord* reading = found.reading;
      if (reading == nullptr || reading->error || reading->unsupported) continue;
      one.seconds.push_back(reading->planned_to_done_s);
      all.seconds.push_back(reading->planned_to_done_s);
      const auto label = label_index(row);
      if (!label) continue;
      const auto& answer = found.answer;
      if (!answer || answer->probs.empty()) continue;
      one.judged.add(answer->probs, answer->choice, *label, 0);
      all.judged.add(answer->probs, answer->choice, *label, 0);
    }
    out.tasks.push_back(one.finish(figures.task, points));
  }
  out.tasks.front() = all.finish("", points);
  return out;
}

void find_mistakes(std::span<const Row> rows, const Index& index, const Scores& scores,
                   const Lead& lead, const Fits& fits, std::size_t most, Evidence& out) {
  const Column& column = scores.columns[lead.column];
  std::vector<Mistake> found;
  for (const std::size_t i : index.rows(column.arm, lead.task)) {
    const Row& row = rows[i];
    const InColumn in = given(row, column, fits);
    const auto label = label_index(row);
    const auto& answer = in.answer;
    if (!label) continue;
    if (!answer || answer->probs.empty() || answer->choice == *label) continue;
    found.push_back({.row = i,
                     .column = lead.column,
                     .reading = *in.name,
                     .said = row.keys[answer->choice],
                     .label = *row.label,
                     .p = answer->probs[answer->choice],
                     .p_label = *label < answer->probs.size() ? answer->probs[*label] : 0});
  }
  out.wrong += found.size();
  std::ranges::stable_sort(found, std::greater{}, &Mistake::p);
  if (found.size() > most) found.resize(most);
  std::ranges::move(found, std::back_inserter(out.mistakes));
}

Contest find_contest(std::span<const Row> rows, const Index& index, const Scores& scores,
                     const Lead& lead, const Fits& fits, std::size_t most) {
  Contest out{.task = lead.task, .a = lead.column, .b = *lead.rival};
  const Column &a = scores.columns[out.a], &b = scores.columns[out.b];
  std::map<std::tuple<std::string_view, int>, std::size_t> rows_of_b;
  for (const std::size_t i : index.rows(b.arm, lead.task)) {
    rows_of_b.insert_or_assign({rows[i].id, rows[i].repeat}, i);
  }
  for (const std::size_t i : index.rows(a.arm, lead.task)) {
    const Row& row_a = rows[i];
    const auto other = rows_of_b.find({row_a.id, row_a.repeat});
    if (other == rows_of_b.end()) continue;
    const Row& row_b = rows[other->second];
    if (row_a.keys != row_b.keys) continue;
    const InColumn in_a = given(row_a, a, fits), in_b = given(row_b, b, fits);
    const auto &said_a = in_a.answer, &said_b = in_b.answer;
    if (!said_a || !said_b || said_a->probs.empty() || said_b->probs.empty()) continue;
    ++out.n;
    if (const auto label = label_index(row_a)) {
      ++out.labelled;
      const bool right_a = said_a->choice == *label, right_b = said_b->choice == *label;
      out.right_a += right_a && !right_b ? 1U : 0U;
      out.right_b += right_b && !right_a ? 1U : 0U;
    }
    if (said_a->choice == said_b->choice) continue;
    ++out.differ;
    out.shown.push_back({.row_a = i,
                         .row_b = other->second,
                         .reading_a = *in_a.name,
                         .reading_b = *in_b.name,
                         .said_a = row_a.keys[said_a->choice],
                         .said_b = row_b.keys[said_b->choice],
                         .p_a = said_a->probs[said_a->choice],
                         .p_b = said_b->probs[said_b->choice],
                         .label = row_a.label});
  }
  out.p = mcnemar_exact(out.right_a, out.right_b);
  std::ranges::stable_sort(out.shown, std::greater{},
                           [](const Differing& d) { return std::min(d.p_a, d.p_b); });
  if (out.shown.size() > most) out.shown.resize(most);
  return out;
}

}  // namespace

Evidence find_evidence(std::span<const Row> rows, const Scores& scores, const Fits& fits,
                       EvidenceLimits limits) {
  Evidence out;
  const Index index(rows);
  for (const Column& column : scores.columns) {
    out.curves.push_back(find_curves(rows, index, column, fits, limits.points));
  }
  out.leads = find_leads(scores);
  const std::size_t each =
      std::max<std::size_t>(1, limits.shown / std::max<std::size_t>(1, out.leads.size()));
  for (const Lead& lead : out.leads) {
    find_mistakes(rows, index, scores, lead, fits, each, out);
    if (lead.rival) out.contests.push_back(find_contest(rows, index, scores, lead, fits, each));
  }
  return out;
}

}  // namespace deem::score

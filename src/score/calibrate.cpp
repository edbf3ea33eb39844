#include "score/calibrate.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "decision/baseline.h"
#include "score/answer.h"
#include "score/fit_sample.h"

namespace deem::score {
namespace {

using decision::Calibrator;
using Method = Calibrator::Method;
using record::Row;

constexpr std::size_t kLeastTasks = 3;  // for holding out whole tasks

/// The answered items of a sample, with a cluster each that is held out whole.
struct Fittable {
  RawSample sample = {};
  std::size_t states = 0;
};

Fittable answered_only(const RawSample& from, const std::vector<std::size_t>& clusters) {
  Fittable out;
  std::set<std::size_t> states;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const RawSample::Item& item = from.item(i);
    if (item.scores == 0) continue;
    states.insert(item.cluster);
    const auto own = from.probs(i, Calibrator{});
    out.sample.add(from.scores(item), item.options, item.label,
                   clusters.empty() ? item.cluster : clusters[i],
                   own ? std::span<const double>(*own) : std::span<const double>());
  }
  out.states = states.size();
  return out;
}

/// Held-out predictions of every item, by `fit_part(train)`; none where it gives none.
template <class FitPart>
std::optional<std::vector<Calibrator>> cross_fit(const RawSample& sample,
                                                 std::span<const std::size_t> fold_of,
                                                 FitPart fit_part) {
  const std::vector<std::size_t> all = sample.all();
  std::vector<Calibrator> out(kFolds);
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    const Split parts = split(sample, all, fold_of, fold);
    if (parts.held_out.empty()) continue;
    std::optional<Calibrator> fitted = fit_part(parts.train);
    if (!fitted || !losses(sample, parts.held_out, *fitted)) return std::nullopt;
    out[fold] = std::move(*fitted);
  }
  return out;
}

MethodFigures held_out_figures(const RawSample& sample, std::span<const std::size_t> fold_of,
                               const std::vector<Calibrator>& fitted, Method method,
                               std::uint64_t seed) {
  Judged judged;
  std::vector<ClusterSums> clusters(sample.clusters());
  bool own = true;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const RawSample::Item& item = sample.item(i);
    const Calibrator& calibrator = fitted[fold_of[item.cluster]];
    add_judged(judged, sample, i, calibrator);
    const auto before = sample.probs(i, Calibrator{});
    own = own && before;
    if (!own) continue;
    Losses then, now;
    then.add(*before, item);
    now.add(*sample.probs(i, calibrator), item);
    ClusterSums& sums = clusters[item.cluster];
    ++sums.n;
    sums.a += now.brier - then.brier;
    sums.b += now.log_loss - then.log_loss;
  }
  MethodFigures out{.method = method, .held_out = figures_of(judged, seed)};
  if (own && method != Method::None) {
    std::erase_if(clusters, [](const ClusterSums& sums) { return sums.n == 0; });
    if (const auto means = bootstrap_means(clusters, seed)) {
      out.brier_difference = means->a;
      out.log_loss_difference = means->b;
    }
  }
  return out;
}

void fit_entry(const RawSample& sample, const CalibrateOptions& options, Calibrated& out) {
  const std::vector<std::size_t> all = sample.all();
  const std::vector<std::size_t> fold_of = assign_folds(sample, all, kFolds, options.seed);
  const std::vector<Method> suitable = methods_for(sample);
  for (const Method method : suitable) {
    const auto fitted =
        cross_fit(sample, fold_of, [&](const auto& train) { return fit(sample, train, method); });
    if (fitted)
      out.tried.push_back(held_out_figures(sample, fold_of, *fitted, method, options.seed));
  }
  std::vector<Method> wanted = suitable;
  if (options.method) {
    std::erase_if(wanted, [&](Method m) { return m != *options.method && m != Method::None; });
    if (std::ranges::find(wanted, *options.method) == wanted.end()) {
      out.refused = std::string(decision::to_string(*options.method)) + " does not suit it";
      return;
    }
    // The one asked for, unless it is worse on its own items than what it replaces.
    const auto fitted = fit(sample, all, *options.method);
    const auto own = losses(sample, all, Calibrator{});
    const auto on_own = fitted ? losses(sample, all, *fitted) : std::nullopt;
    if (on_own && (!own || on_own->log_loss <= own->log_loss)) wanted = {*options.method};
  }
  const auto best = fit_best(sample, all, wanted, options.seed);
  if (!best) {
    out.refused = "no method suits it";
    return;
  }
  const auto picked = cross_fit(sample, fold_of, [&](const auto& train) {
    const auto inner = fit_best(sample, train, wanted, options.seed);
    return inner ? std::optional(inner->calibrator) : std::nullopt;
  });
  if (picked) {
    out.picked = held_out_figures(sample, fold_of, *picked, best->calibrator.method, options.seed);
    out.entry.after = out.picked->held_out;
  }
  const auto before = losses(sample, all, Calibrator{});
  const auto after = losses(sample, all, best->calibrator);
  const auto n = static_cast<double>(sample.size());
  out.own_after = after->log_loss / n;
  if (before) out.own_before = before->log_loss / n;
  const auto none = std::ranges::find(out.tried, Method::None, &MethodFigures::method);
  if (none != out.tried.end()) out.entry.before = none->held_out;
  out.entry.calibrator = best->calibrator;
}

Calibrated start(const ColumnName& column, const FitSample& from) {
  Calibrated out{.column = column, .unanswered = from.unanswered};
  out.entry = {.type = from.type,
               .mode = from.mode,
               .reading = column.reading,
               .variant = column.variant,
               .policy = from.policy,
               .prompt_digest = from.prompt_digest};
  return out;
}

Calibrated of_task(const FitSample& from, const ColumnName& column, const std::string& task,
                   const CalibrateOptions& options) {
  Calibrated out = start(column, from);
  out.entry.task = task;
  out.entry.held_out_by = "state";
  const Fittable fittable = answered_only(from.sample, {});
  out.entry.n = static_cast<std::int64_t>(fittable.sample.size());
  out.entry.states = static_cast<std::int64_t>(fittable.states);
  out.refused = too_few(fittable.sample.size(), fittable.states);
  if (out.refused.empty()) fit_entry(fittable.sample, options, out);
  return out;
}

/// Items of several tasks that have one type and number of options. Where there are enough tasks,
/// whole ones are held out: what a question of another task would get.
std::optional<Calibrated> of_shape(const std::vector<const Row*>& rows, const ColumnName& column,
                                   std::size_t shape_options, const CalibrateOptions& options) {
  const FitSample from = fit_sample(rows, column);
  std::map<std::string, std::size_t> tasks;
  std::vector<std::size_t> task_of;
  for (const ItemName& name : from.names)
    task_of.push_back(tasks.try_emplace(name.task, tasks.size()).first->second);
  if (tasks.size() < 2) return std::nullopt;
  const bool by_task = tasks.size() >= kLeastTasks;
  const Fittable fittable =
      answered_only(from.sample, by_task ? task_of : std::vector<std::size_t>{});
  Calibrated out = start(column, from);
  out.entry.options = static_cast<std::int64_t>(shape_options);
  out.entry.prompt_digest.clear();  // differs by task
  out.entry.held_out_by = by_task ? "task" : "state";
  out.entry.n = static_cast<std::int64_t>(fittable.sample.size());
  out.entry.states = static_cast<std::int64_t>(fittable.states);
  out.refused = too_few(fittable.sample.size(), fittable.states);
  if (out.refused.empty()) fit_entry(fittable.sample, options, out);
  return out;
}

}  // namespace

std::vector<Calibrated> calibrate(std::span<const Row> rows, const CalibrateOptions& options) {
  std::vector<std::string> tasks;
  std::map<std::string, std::vector<const Row*>> by_task;
  std::map<std::pair<decision::QuestionType, std::size_t>, std::vector<const Row*>> by_shape;
  for (const Row& row : rows) {
    if (row.repeat != 0 || !row.probe.empty()) continue;
    if (!by_task.contains(row.task)) tasks.push_back(row.task);
    by_task[row.task].push_back(&row);
    by_shape[{row.type, row.keys.size()}].push_back(&row);
  }
  // Parts are made of states as they come: the same rows in another order must give the same fit.
  const auto by_name = [](const Row* row) { return std::tie(row->task, row->id, row->repeat); };
  for (auto& [task, those] : by_task) std::ranges::stable_sort(those, {}, by_name);
  for (auto& [shape, those] : by_shape) std::ranges::stable_sort(those, {}, by_name);
  std::vector<Calibrated> out;
  for (const ColumnName& column : columns_of(rows)) {
    if (!options.columns.empty() &&
        std::ranges::find(options.columns, column) == options.columns.end()) {
      continue;
    }
    for (const std::string& task : tasks) {
      const FitSample from = fit_sample(by_task[task], column);
      if (from.names.size() > from.unanswered) out.push_back(of_task(from, column, task, options));
    }
    for (const auto& [shape, those] : by_shape) {
      auto pooled = of_shape(those, column, shape.second, options);
      if (pooled) out.push_back(std::move(*pooled));
    }
  }
  return out;
}

}  // namespace deem::score

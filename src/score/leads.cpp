#include "score/leads.h"

#include <algorithm>
#include <tuple>

namespace deem::score {
namespace {

constexpr double kUnknownLast = 1e300;

auto order_of(const Figures& figures, bool few) {
  return std::tuple(few, -figures.accuracy.value.value_or(0), figures.brier.value_or(kUnknownLast),
                    figures.median_s.value_or(kUnknownLast));
}

bool same_reading(const Column& a, const Column& b) {
  return a.arm == b.arm && a.reading == b.reading;
}

}  // namespace

const Figures* figures_on(const Column& column, const std::string& task) {
  if (task.empty()) return &column.all;
  const auto found = std::ranges::find(column.tasks, task, &Figures::task);
  return found == column.tasks.end() ? nullptr : &*found;
}

std::optional<BestBaseline> best_baseline(const Figures& figures) {
  std::optional<BestBaseline> best;
  const auto offer = [&](const char* name, const Rate& accuracy) {
    if (!accuracy.value) return;
    if (!best || *accuracy.value > *best->accuracy.value) {
      best = BestBaseline{.name = name, .accuracy = accuracy};
    }
  };
  offer("uniform", figures.uniform);
  offer("prior", figures.majority);
  offer("keyword overlap", figures.overlap);
  return best;
}

std::vector<std::size_t> ranked_columns(const Scores& scores, const std::string& task,
                                        bool one_a_reading) {
  std::vector<std::size_t> out;
  std::size_t most = 0;
  for (std::size_t i = 0; i < scores.columns.size(); ++i) {
    const Figures* figures = figures_on(scores.columns[i], task);
    if (figures == nullptr || !figures->accuracy.value || figures->uncalibrated) continue;
    out.push_back(i);
    most = std::max(most, figures->accuracy.n);
  }
  std::ranges::stable_sort(out, {}, [&](std::size_t i) {
    const Figures& figures = *figures_on(scores.columns[i], task);
    return order_of(figures, figures.accuracy.n * 2 < most);
  });
  if (!one_a_reading) return out;
  std::vector<std::size_t> firsts;
  for (const std::size_t i : out) {
    const bool known = std::ranges::any_of(
        firsts, [&](std::size_t j) { return same_reading(scores.columns[i], scores.columns[j]); });
    if (!known) firsts.push_back(i);
  }
  return firsts;
}

std::vector<Lead> find_leads(const Scores& scores) {
  std::vector<Lead> out;
  for (const std::string& task : scores.tasks) {
    const std::vector<std::size_t> ranked = ranked_columns(scores, task, true);
    if (ranked.empty()) continue;
    Lead lead{.task = task, .column = ranked.front()};
    const auto answers = [&](std::size_t i) {
      return figures_on(scores.columns[i], task)->accuracy.n;
    };
    if (ranked.size() > 1 && answers(ranked[1]) * 2 >= answers(ranked[0])) lead.rival = ranked[1];
    out.push_back(std::move(lead));
  }
  return out;
}

}  // namespace deem::score

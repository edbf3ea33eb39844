#include "report/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "report/compare_report.h"
#include "report/format.h"
#include "report/html_text.h"

namespace deem::report {
namespace {

using score::Figures;
using score::Scores;

constexpr std::size_t kShownLines = 4;        // of a plot, unless the reader asks for more
constexpr std::size_t kShownReliability = 3;  // their points and intervals cross
constexpr std::size_t kShownFrontier = 12;
constexpr int kLastPosition = 12;  // of the right option, by itself

/// Makes the series of one plot: the best column of each reading first and shown, the rest after.
/// Where there is one reading only, its variants are what can be compared.
template <class MakePoints>
void add_series(Plot& plot, const Scores& scores, std::size_t most_shown, Series::Draw draw,
                MakePoints&& make_points) {
  std::vector<std::size_t> order = score::ranked_columns(scores, plot.task, true);
  const std::vector<std::size_t> variants = score::ranked_columns(scores, plot.task, false);
  if (order.size() < 2) order = variants;
  const std::size_t firsts = order.size();
  for (std::size_t i = 0; i < scores.columns.size(); ++i) {
    if (std::ranges::find(order, i) == order.end()) order.push_back(i);
  }
  std::size_t most_answers = 0;
  for (std::size_t k = 0; k < firsts; ++k) {
    const Figures& figures = *score::figures_on(scores.columns[order[k]], plot.task);
    most_answers = std::max(most_answers, figures.accuracy.n);
  }
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Figures* figures = score::figures_on(scores.columns[order[k]], plot.task);
    if (figures == nullptr) continue;
    Series series{.column = order[k],
                  .draw = draw,
                  .shown = k < firsts && k < most_shown && figures->accuracy.n * 2 >= most_answers};
    series.points = make_points(order[k], *figures);
    if (!series.points.empty()) plot.series.push_back(std::move(series));
  }
}

/// From the shown series, or from all where none is.
template <class Visit>
void visit_points(const Plot& plot, Visit&& visit) {
  const bool any = std::ranges::any_of(plot.series, &Series::shown);
  for (const Series& series : plot.series) {
    if (any && !series.shown) continue;
    for (const PlotPoint& point : series.points) visit(point);
  }
}

void fit_seconds(const Plot& plot, Axis& axis) {
  double low = 1e300, high = 0;
  visit_points(plot, [&](const PlotPoint& point) {
    if (point.x <= 0) return;
    low = std::min(low, point.x);
    high = std::max(high, point.x);
  });
  if (high <= 0) low = high = 1;
  axis.low = low / 1.3;
  axis.high = high * 1.3;
}

Plot frontier_plot(const Scores& scores, const std::string& task) {
  Plot plot{.id = {}, .kind = "frontier", .task = task};
  plot.x = {.label = "median seconds a decision (log)", .unit = Axis::Unit::Seconds, .log = true};
  plot.y = {.label = "accuracy"};
  add_series(plot, scores, kShownFrontier, Series::Draw::Points,
             [&](std::size_t, const Figures& f) -> std::vector<PlotPoint> {
               if (!f.accuracy.value || f.uncalibrated || !f.median_s) return {};
               return {{.x = *f.median_s,
                        .y = *f.accuracy.value,
                        .low = f.accuracy.low,
                        .high = f.accuracy.high,
                        .n = f.accuracy.n}};
             });
  if (plot.series.empty()) return plot;
  // A column that answered a few items only dominates nothing.
  std::vector<FrontierPoint> frontier;
  std::vector<Series*> compared;
  const std::size_t most = plot.series.front().points.front().n.value_or(0);
  double low = 1;
  for (Series& series : plot.series) {
    PlotPoint& point = series.points.front();
    if (point.n.value_or(0) * 2 < most) {
      point.note = "too few answers to compare";
      continue;
    }
    frontier.push_back(
        {.name = scores.columns[series.column].name(), .accuracy = point.y, .median_s = point.x});
    compared.push_back(&series);
    if (series.shown) low = std::min(low, point.low.value_or(0));
  }
  find_frontier(frontier);
  for (std::size_t i = 0; i < frontier.size(); ++i) {
    if (!frontier[i].dominated_by) continue;
    compared[i]->hollow = true;
    compared[i]->points.front().note =
        "dominated by " + visible(frontier[*frontier[i].dominated_by].name);
  }
  const Figures& f = *score::figures_on(scores.columns[plot.series.front().column], task);
  if (const auto baseline = score::best_baseline(f)) {
    plot.references.emplace_back(baseline->name, *baseline->accuracy.value);
    low = std::min(low, *baseline->accuracy.value);
  }
  plot.y.low = std::floor(std::max(0.0, low - 0.02) * 10) / 10;
  fit_seconds(plot, plot.x);
  return plot;
}

Plot reliability_plot(const Scores& scores, const std::string& task) {
  Plot plot{.id = {}, .kind = "reliability", .task = task};
  plot.x = {.label = "mean probability of the answer"};
  plot.y = {.label = "share right"};
  plot.diagonal = plot.counts = true;
  add_series(plot, scores, kShownReliability, Series::Draw::LineAndPoints,
             [](std::size_t, const Figures& f) {
               std::vector<PlotPoint> points;
               for (const score::Bin& bin : f.reliability) {
                 if (bin.n == 0) continue;
                 const score::Rate right = score::rate(bin.correct, bin.n);
                 points.push_back({.x = bin.sum_p / static_cast<double>(bin.n),
                                   .y = *right.value,
                                   .low = right.low,
                                   .high = right.high,
                                   .n = bin.n});
               }
               return points;
             });
  return plot;
}

const score::TaskCurves* curves_on(const score::Evidence& evidence, std::size_t column,
                                   const std::string& task) {
  const auto& tasks = evidence.curves.at(column).tasks;
  const auto found = std::ranges::find(tasks, task, &score::TaskCurves::task);
  return found == tasks.end() ? nullptr : &*found;
}

Plot risk_plot(const Scores& scores, const score::Evidence& evidence, const std::string& task) {
  Plot plot{.id = {}, .kind = "risk", .task = task};
  plot.x = {.label = "share of items acted on"};
  plot.y = {.label = "share of them wrong"};
  add_series(plot, scores, kShownLines, Series::Draw::Line,
             [&](std::size_t column, const Figures& f) {
               std::vector<PlotPoint> points;
               const score::TaskCurves* curves = curves_on(evidence, column, task);
               if (curves == nullptr) return points;
               for (const score::CurvePoint& at : curves->risk_coverage) {
                 const double n = at.x * static_cast<double>(f.accuracy.n);
                 points.push_back({.x = at.x,
                                   .y = at.y,
                                   .n = static_cast<std::size_t>(std::lround(n)),
                                   .note = "p ≥ " + share(at.at)});
               }
               return points;
             });
  double high = 0.05;
  visit_points(plot, [&](const PlotPoint& point) { high = std::max(high, point.y); });
  plot.y.high = std::min(1.0, std::ceil(high * 10 + 0.01) / 10);
  return plot;
}

Plot latency_plot(const Scores& scores, const score::Evidence& evidence, const std::string& task) {
  Plot plot{.id = {}, .kind = "latency", .task = task};
  plot.x = {
      .label = "seconds from the planned send (log)", .unit = Axis::Unit::Seconds, .log = true};
  plot.y = {.label = "share of decisions done"};
  // A reading's variants are computed from the same reply: one line stands for all.
  add_series(plot, scores, kShownLines, Series::Draw::Steps,
             [&](std::size_t column, const Figures&) {
               std::vector<PlotPoint> points;
               const score::TaskCurves* curves = curves_on(evidence, column, task);
               const auto same = [&](const Series& other) {
                 return scores.columns[other.column].arm == scores.columns[column].arm &&
                        scores.columns[other.column].reading == scores.columns[column].reading;
               };
               if (curves == nullptr || std::ranges::any_of(plot.series, same)) return points;
               for (const score::CurvePoint& at : curves->latency) {
                 points.push_back({.x = at.x, .y = at.y});
               }
               return points;
             });
  fit_seconds(plot, plot.x);
  return plot;
}

Plot position_plot(const Scores& scores, const std::string& task) {
  Plot plot{.id = {}, .kind = "position", .task = task};
  plot.x = {.label = "position of the right option", .unit = Axis::Unit::Count};
  plot.y = {.label = "accuracy"};
  plot.counts = true;
  int last = 1;
  bool more = false;  // positions past kLastPosition, taken together
  add_series(plot, scores, kShownReliability, Series::Draw::LineAndPoints,
             [&](std::size_t, const Figures& f) {
               std::map<int, score::Rate> places;
               for (const score::Slice& slice : f.detail.slices) {
                 if (slice.by != "gold position") continue;
                 int position = 0;
                 std::from_chars(slice.value.data(), slice.value.data() + slice.value.size(),
                                 position);
                 more = more || position > kLastPosition;
                 score::Rate& place = places[std::min(position, kLastPosition + 1)];
                 place = score::rate(place.hits + slice.accuracy.hits, place.n + slice.accuracy.n);
               }
               std::vector<PlotPoint> points;
               for (const auto& [position, right] : places) {
                 last = std::max(last, position);
                 points.push_back({.x = static_cast<double>(position),
                                   .y = right.value.value_or(0),
                                   .low = right.low,
                                   .high = right.high,
                                   .n = right.n});
               }
               return points;
             });
  plot.x.low = 0.5;
  plot.x.high = last + 0.5;
  if (more) plot.x.last = fmt::format("{}+", kLastPosition + 1);
  // Side by side, so that intervals do not cover each other.
  constexpr double kStep = 0.1;
  const double shown = static_cast<double>(std::ranges::count_if(plot.series, &Series::shown));
  double at = -(shown - 1) / 2;
  for (Series& series : plot.series) {
    if (!series.shown) continue;
    for (PlotPoint& point : series.points) point.x += at * kStep;
    at += 1;
  }
  if (last < 2) plot.series.clear();  // one position says nothing
  return plot;
}

}  // namespace

std::vector<ColumnStyle> find_styles(const Scores& scores, const score::Evidence& evidence) {
  std::vector<ColumnStyle> out;
  for (const score::Column& column : scores.columns)
    out.push_back({.name = visible(column.name())});
  std::vector<std::size_t> order;
  const auto add = [&](std::size_t column) {
    if (std::ranges::find(order, column) == order.end()) order.push_back(column);
  };
  for (const score::Lead& lead : evidence.leads) add(lead.column);
  for (std::size_t rank = 0; rank < kShownLines; ++rank) {
    for (const score::Lead& lead : evidence.leads) {
      const std::vector<std::size_t> ranked = score::ranked_columns(scores, lead.task, true);
      if (rank < ranked.size()) add(ranked[rank]);
    }
  }
  for (std::size_t i = 0; i < scores.columns.size(); ++i) add(i);
  for (std::size_t i = 0; i < order.size(); ++i) out[order[i]].style = i;
  return out;
}

std::vector<PlotGroup> make_plots(const Scores& scores, const score::Evidence& evidence) {
  std::vector<PlotGroup> groups = {
      {.id = "frontier",
       .title = "Accuracy against time",
       .explanation = "Up is more often right, left is faster; a hollow mark is dominated: another "
                      "column is as good in both and better in one. Whiskers are 95 % intervals, "
                      "the dashed line is the best baseline."},
      {.id = "reliability",
       .title = "Are the probabilities true?",
       .explanation = "On the diagonal, of the answers given .8 eight in ten are right; under it "
                      "the model is too sure, above it not sure enough. Larger marks are more "
                      "answers, their counts stand below."},
      {.id = "risk",
       .title = "What if only sure answers count?",
       .explanation = "From left to right, acting on the surest answers first: how many of those "
                      "acted on are wrong. A line that rises late can be trusted on its surest "
                      "part."},
      {.id = "latency",
       .title = "How long a decision takes",
       .explanation = "The share of decisions done within the time below; a steep line is a steady "
                      "one. All variants of a reading take the same time."},
      {.id = "position",
       .title = "Does the place of the right option matter?",
       .explanation = "Accuracy by where the right option stood; a line that falls or leans to one "
                      "place shows a bias of position. Whiskers are 95 % intervals, counts stand "
                      "below."}};
  const std::size_t most = std::min(scores.tasks.size(), kMostTasks);
  for (std::size_t t = 0; t < most; ++t) {
    const std::string& task = scores.tasks[t];
    Plot plots[] = {frontier_plot(scores, task), reliability_plot(scores, task),
                    risk_plot(scores, evidence, task), latency_plot(scores, evidence, task),
                    position_plot(scores, task)};
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (plots[g].series.empty()) continue;
      plots[g].id = fmt::format("{}-{}", groups[g].id, t);
      groups[g].plots.push_back(std::move(plots[g]));
    }
  }
  std::erase_if(groups, [](const PlotGroup& group) { return group.plots.empty(); });
  return groups;
}

codec::Json to_json(const Plot& plot) {
  using codec::Json;
  // Five digits are more than a pixel shows.
  const auto rounded = [](double value) {
    if (value == 0 || !std::isfinite(value)) return 0.0;
    const double scale = std::pow(10, 4 - std::floor(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
  };
  const auto axis = [](const Axis& a) {
    static constexpr const char* kUnits[] = {"share", "seconds", "count"};
    return Json::object({{"label", a.label},
                         {"unit", kUnits[static_cast<std::size_t>(a.unit)]},
                         {"log", a.log},
                         {"last", a.last},
                         {"low", a.low},
                         {"high", a.high}});
  };
  Json all = Json::array();
  for (const Series& series : plot.series) {
    Json points = Json::array();
    for (const PlotPoint& p : series.points) {
      Json one = Json::array({rounded(p.x), rounded(p.y)});
      if (p.low || p.n || !p.note.empty()) {
        one.push(p.low ? Json(rounded(*p.low)) : Json());
        one.push(p.high ? Json(rounded(*p.high)) : Json());
        one.push(p.n ? Json(static_cast<std::uint64_t>(*p.n)) : Json());
        if (!p.note.empty()) one.push(p.note);
      }
      points.push(std::move(one));
    }
    static constexpr const char* kDraws[] = {"line", "steps", "points", "both"};
    all.push(Json::object({{"column", static_cast<std::uint64_t>(series.column)},
                           {"draw", kDraws[static_cast<std::size_t>(series.draw)]},
                           {"shown", series.shown},
                           {"hollow", series.hollow},
                           {"points", std::move(points)}}));
  }
  Json references = Json::array();
  for (const auto& [name, value] : plot.references) references.push(Json::array({name, value}));
  return Json::object({{"id", plot.id},
                       {"kind", plot.kind},
                       {"task", visible(plot.task)},
                       {"x", axis(plot.x)},
                       {"y", axis(plot.y)},
                       {"diagonal", plot.diagonal},
                       {"counts", plot.counts},
                       {"references", std::move(references)},
                       {"series", std::move(all)}});
}

}  // namespace deem::report

#include "score/power_series.h"

#include <algorithm>
#include <cmath>

namespace deem::score {
namespace {

void add_reading(std::vector<double>& times, std::vector<double>& values, double t,
                 const std::optional<double>& value) {
  if (!value || !std::isfinite(*value) || (!times.empty() && t <= times.back())) return;
  times.push_back(t);
  values.push_back(*value);
}

double interpolate(double t0, double v0, double t1, double v1, double t) {
  return v0 + (v1 - v0) * ((t - t0) / (t1 - t0));
}

/// Readings from the last one at or before `begin` to the first one at or after `end`, as far as
/// there are such.
struct Reached {
  std::size_t first = 0, last = 0;  // both included
  bool any = false;
};

Reached reached(const std::vector<double>& t, double begin, double end) {
  if (t.empty()) return {};
  const auto after = std::ranges::upper_bound(t, begin);
  const auto until = std::ranges::lower_bound(t, end);
  const auto first = static_cast<std::size_t>(std::max(after - t.begin() - 1, std::ptrdiff_t{0}));
  const auto last = std::min(static_cast<std::size_t>(until - t.begin()), t.size() - 1);
  return {first, last, true};
}

/// Counts readings and gaps of the window. Whether the readings reach over it.
bool look(const std::vector<double>& t, const Reached& at, double begin, double end, double reach,
          Integral& out) {
  for (std::size_t i = at.first; i <= at.last; ++i) {
    if (t[i] >= begin && t[i] <= end) ++out.samples;
    if (i > at.first) out.longest_gap_s = std::max(out.longest_gap_s, t[i] - t[i - 1]);
  }
  const double before = t[at.first] - begin, behind = end - t[at.last];  // above 0: uncovered
  out.longest_gap_s = std::max({out.longest_gap_s, before, behind});
  return before <= reach && behind <= reach;
}

}  // namespace

BoardSeries board_series(const record::PowerSegment& segment, std::size_t board) {
  BoardSeries out;
  for (const record::PowerSample& sample : segment.samples) {
    if (board >= sample.boards.size()) continue;
    const record::PowerReading& reading = sample.boards[board];
    add_reading(out.watts_t, out.watts, sample.mono_s, reading.watts);
    add_reading(out.counter_t, out.counter_j, sample.mono_s, reading.energy_j);
  }
  return out;
}

Integral integrate_watts(const BoardSeries& series, double begin, double end, double reach) {
  const std::vector<double>&t = series.watts_t, &w = series.watts;
  Integral out;
  const Reached at = reached(t, begin, end);
  if (!at.any || !look(t, at, begin, end, reach, out)) return out;
  const auto value_at = [&](double x, std::size_t i) {  // x from reading i on, or outside of all
    if (x <= t[i] || i + 1 == t.size()) return w[i];
    if (x == t[i + 1]) return w[i + 1];
    return interpolate(t[i], w[i], t[i + 1], w[i + 1], x);
  };
  double joules = 0, from = begin, before = value_at(begin, at.first);
  for (std::size_t i = at.first; i <= at.last; ++i) {
    if (t[i] <= from || t[i] >= end) continue;
    joules += (before + w[i]) / 2 * (t[i] - from);
    from = t[i];
    before = w[i];
  }
  const bool past = t[at.last] >= end && at.last > 0;
  const double behind = value_at(end, past ? at.last - 1 : at.last);
  out.joules = joules + (before + behind) / 2 * (end - from);
  return out;
}

Integral integrate_counter(const BoardSeries& series, double begin, double end, double reach) {
  const std::vector<double>&t = series.counter_t, &e = series.counter_j;
  Integral out;
  const Reached at = reached(t, begin, end);
  if (!at.any || !look(t, at, begin, end, reach, out) || t.size() < 2) return out;
  // Steps the window lies over; past the outer readings the outermost step goes on.
  const std::size_t first = std::min(at.first, t.size() - 2);
  const std::size_t last = std::max(at.last, first + 1);
  double joules = 0;
  for (std::size_t i = first; i < last; ++i) {
    const double from = i == first ? begin : t[i], to = i + 1 == last ? end : t[i + 1];
    const double step = e[i + 1] - e[i];
    if (step < 0) out.went_back = true;
    joules += from == t[i] && to == t[i + 1] ? step : step * ((to - from) / (t[i + 1] - t[i]));
  }
  if (!out.went_back) out.joules = joules;
  return out;
}

PowerCurves power_curves(const record::PowerSegment& segment, std::span<const BoardSeries> series,
                         double reach) {
  const std::size_t ticks = segment.samples.size();
  PowerCurves out;
  out.sum.assign(ticks, 0.0);
  for (const BoardSeries& board : series) {
    const bool steps = board.by_counter();
    const std::vector<double>& t = steps ? board.counter_t : board.watts_t;
    std::vector<std::optional<double>>& curve = out.boards.emplace_back(ticks);
    std::size_t next = 0;  // the first reading at or after the tick
    for (std::size_t i = 0; i < ticks; ++i) {
      const double now = segment.samples[i].mono_s;
      while (next < t.size() && t[next] < now) ++next;
      if (next < t.size() && (t[next] == now || (next > 0 && t[next] - t[next - 1] <= reach))) {
        if (!steps) {
          curve[i] = t[next] == now ? board.watts[next]
                                    : interpolate(t[next - 1], board.watts[next - 1], t[next],
                                                  board.watts[next], now);
        } else if (next > 0 && t[next] - t[next - 1] <= reach) {
          const double joules = board.counter_j[next] - board.counter_j[next - 1];
          if (joules >= 0) curve[i] = joules / (t[next] - t[next - 1]);
        }
      }
      std::optional<double>& sum = out.sum[i];
      sum = sum && curve[i] ? std::optional(*sum + *curve[i]) : std::nullopt;
    }
  }
  if (series.empty()) out.sum.assign(ticks, std::nullopt);
  return out;
}

}  // namespace deem::score

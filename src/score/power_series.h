#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "record/power.h"

namespace deem::score {

/// One board's readings over a segment, each list with its own ascending times: a board may leave
/// out a value at a tick.
struct BoardSeries {
  std::vector<double> watts_t = {}, watts = {};
  std::vector<double> counter_t = {}, counter_j = {};
  /// It told no watts but counts: power is the counter's difference, constant between readings.
  bool by_counter() const { return watts.empty() && counter_j.size() > 1; }
};

/// Readings of board `board` of the segment. A time that is not after the one before is skipped.
BoardSeries board_series(const record::PowerSegment& segment, std::size_t board);

/// What one board did from `begin` to `end`.
struct Integral {
  std::optional<double> joules = {};
  std::size_t samples = 0;  // readings in the window, edges included
  double longest_gap_s =
      0;  // between readings that the integral goes by, outer ones at the edges too
  bool went_back = false;  // a counter fell: no joules then
};

/// Trapezoids over the board's own readings, edges interpolated. Where there is no reading past an
/// edge, the last one counts on for `reach` seconds; a window that goes further has no joules.
/// Requires begin < end.
Integral integrate_watts(const BoardSeries& series, double begin, double end, double reach);

/// The counter's difference, edges interpolated and reached as above.
Integral integrate_counter(const BoardSeries& series, double begin, double end, double reach);

/// What a board drew by its watts, else by its counter.
inline Integral integrate_power(const BoardSeries& series, double begin, double end, double reach) {
  return series.by_counter() ? integrate_counter(series, begin, end, reach)
                             : integrate_watts(series, begin, end, reach);
}

/// Power at every tick of a segment.
struct PowerCurves {
  std::vector<std::vector<std::optional<double>>> boards = {};  // [board][tick], W
  std::vector<std::optional<double>> sum = {};                  // none unless all boards have one
};

/// Where a board left a tick out, it is interpolated between readings at most `reach` seconds
/// apart. A board without watts has the mean since its counter's last reading.
PowerCurves power_curves(const record::PowerSegment& segment, std::span<const BoardSeries> series,
                         double reach);

}  // namespace deem::score

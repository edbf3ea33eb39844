#pragma once

// Private to report: a plot as data. svg.h draws it still, the page's script draws it live.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/json.h"

namespace deem::report {

struct Axis {
  enum class Unit { Share, Seconds, Count };
  std::string label = {};
  Unit unit = Unit::Share;
  bool log = false;
  double low = 0, high = 1;
  std::string last = {};  // said of the last tick instead of its number: "13+"
};

struct PlotPoint {
  double x = 0, y = 0;
  std::optional<double> low = {}, high = {};  // of y, an interval
  std::optional<std::size_t> n = {};
  std::string note = {};  // more to say about it when it is pointed at
};

struct Series {
  enum class Draw { Line, Steps, Points, LineAndPoints };
  std::size_t column = 0;  // index into the report's columns
  Draw draw = Draw::Line;
  bool shown = false;   // drawn unless the reader chooses otherwise
  bool hollow = false;  // its points
  std::vector<PlotPoint> points = {};
};

struct Plot {
  std::string id = {}, kind = {}, task = {};
  Axis x = {}, y = {};
  bool diagonal = false;                                        // y = x
  bool counts = false;                                          // n of each point under the axis
  std::vector<std::pair<std::string, double>> references = {};  // horizontal lines
  std::vector<Series> series = {};                              // the best first
};

/// What a column looks like everywhere: a colour, a dash and a marker.
struct ColumnStyle {
  std::string name = {};  // visible() already
  std::size_t style = 0;
};
inline constexpr std::size_t kColours = 8, kDashes = 4, kMarkers = 6;

/// "20 ms", ".4", "12": a value on an axis.
std::string axis_value(const Axis& axis, double value);
/// Where an axis has its lines: ends included on linear ones, 1-2-5 on logarithmic ones.
std::vector<double> axis_ticks(const Axis& axis);

/// For the page's script; numbers to five digits.
codec::Json to_json(const Plot& plot);

/// The plot's shown series as an <svg>. `title` says what it is to those who can not see it.
std::string as_svg(const Plot& plot, const std::vector<ColumnStyle>& columns,
                   const std::string& title);
/// A line and a marker, for a legend.
std::string swatch(std::size_t style, bool hollow);
/// A share with its interval as a small bar between 0 and 1, with marks where baselines lie; `wide`
/// for a bar of a card's width.
std::string interval_bar(std::optional<double> value, double low, double high,
                         const std::vector<double>& marks, const std::string& title,
                         bool wide = false);

}  // namespace deem::report

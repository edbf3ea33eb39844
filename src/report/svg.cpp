#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/format.h"
#include "report/html_text.h"
#include "report/plot.h"

namespace deem::report {
namespace {

constexpr double kWidth = 400, kLeft = 44, kRight = 22, kTop = 10, kPlotHeight = 230;
constexpr double kAxisHeight = 40, kCountHeight = 14;

/// Maps values to the drawing.
class Frame {
 public:
  explicit Frame(const Plot& plot) : x_(plot.x), y_(plot.y) {}
  double x(double value) const { return kLeft + along(x_, value) * (kWidth - kLeft - kRight); }
  double y(double value) const { return kTop + (1 - along(y_, value)) * kPlotHeight; }

 private:
  static double along(const Axis& axis, double value) {
    const auto scaled = [&](double v) { return axis.log ? std::log10(std::max(v, axis.low)) : v; };
    const double low = scaled(axis.low), high = scaled(axis.high);
    if (high <= low) return 0.5;
    return std::clamp((scaled(value) - low) / (high - low), 0.0, 1.0);
  }
  const Axis &x_, &y_;
};

std::string marker(double x, double y, double r, std::size_t shape, const std::string& classes) {
  const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
    std::string points;
    for (const auto& [dx, dy] : corners) {
      points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x + dx * r, y + dy * r);
    }
    return fmt::format("<polygon class=\"{}\" points=\"{}\"/>", classes, points);
  };
  switch (shape) {
    case 1:
      return polygon({{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}});
    case 2:
      return polygon({{0, -1.2}, {1.1, .8}, {-1.1, .8}});
    case 3:
      return polygon({{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}});
    case 4:
      return polygon({{0, 1.2}, {1.1, -.8}, {-1.1, -.8}});
    case 5:
      return polygon({{-.4, -1.1},
                      {.4, -1.1},
                      {.4, -.4},
                      {1.1, -.4},
                      {1.1, .4},
                      {.4, .4},
                      {.4, 1.1},
                      {-.4, 1.1},
                      {-.4, .4},
                      {-1.1, .4},
                      {-1.1, -.4},
                      {-.4, -.4}});
    default:
      return fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>", classes,
                         x, y, r);
  }
}

std::string style_class(std::size_t style) {
  return fmt::format("c{} d{}", style % kColours, style / kColours % kDashes);
}

void draw_axes(std::string& out, const Plot& plot, const Frame& frame) {
  const double bottom = kTop + kPlotHeight;
  double free = 0;  // from here on there is room for a number
  for (const double tick : axis_ticks(plot.x)) {
    const double x = frame.x(tick);
    out += fmt::format("<path class=\"gridline\" d=\"M{0:.1f} {1}V{2}\"/>", x, kTop, bottom);
    constexpr double kDigit = 8.5;  // its width on a phone, where letters are larger
    const std::string value = axis_value(plot.x, tick);
    const double half = kDigit * static_cast<double>(value.size()) / 2;
    if (x - half < free) continue;
    free = x + half + 2;
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", x,
                       bottom + 15, html(value));
  }
  for (const double tick : axis_ticks(plot.y)) {
    const double y = frame.y(tick);
    out += fmt::format("<path class=\"gridline\" d=\"M{} {:.1f}H{}\"/>", kLeft, y, kWidth - kRight);
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLeft - 6,
                       y + 4, html(axis_value(plot.y, tick)));
  }
  out += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                     (kLeft + kWidth - kRight) / 2, bottom + 33, html(plot.x.label));
  out += fmt::format(
      "<text class=\"label\" transform=\"translate(11 {:.1f}) rotate(-90)\" "
      "text-anchor=\"middle\">{}</text>",
      kTop + kPlotHeight / 2, html(plot.y.label));
}

void draw_references(std::string& out, const Plot& plot, const Frame& frame) {
  if (plot.diagonal) {
    const double low = std::max(plot.x.low, plot.y.low), high = std::min(plot.x.high, plot.y.high);
    out += fmt::format("<path class=\"ideal\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", frame.x(low),
                       frame.y(low), frame.x(high), frame.y(high));
  }
  double last = -100;
  for (const auto& [name, value] : plot.references) {
    const double y = frame.y(value);
    out += fmt::format("<path class=\"baseline\" d=\"M{} {:.1f}H{}\"/>", kLeft, y, kWidth - kRight);
    if (std::abs(y - last) < 11) continue;  // the lines may touch, their names may not
    last = y;
    out +=
        fmt::format("<text class=\"basename\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
                    kWidth - kRight - 3, y - 3, html(name));
  }
}

void draw_line(std::string& out, const Series& series, const Frame& frame, std::size_t style) {
  std::string path;
  for (const PlotPoint& point : series.points) {
    const double x = frame.x(point.x), y = frame.y(point.y);
    if (path.empty() && series.draw == Series::Draw::Steps) {
      path = fmt::format("M{:.1f} {:.1f}V{:.1f}", x, frame.y(0), y);
    } else if (path.empty()) {
      path = fmt::format("M{:.1f} {:.1f}", x, y);
    } else if (series.draw == Series::Draw::Steps) {
      path += fmt::format("H{:.1f}V{:.1f}", x, y);
    } else {
      path += fmt::format("L{:.1f} {:.1f}", x, y);
    }
  }
  const bool faint = series.draw == Series::Draw::LineAndPoints;
  out += fmt::format("<path class=\"line {}{}\" d=\"{}\"/>", style_class(style),
                     faint ? " faint" : "", path);
}

void draw_points(std::string& out, const Series& series, const Frame& frame, std::size_t style) {
  std::size_t most = 1;
  for (const PlotPoint& point : series.points) most = std::max(most, point.n.value_or(1));
  for (const PlotPoint& point : series.points) {
    const double x = frame.x(point.x), y = frame.y(point.y);
    if (point.low && point.high) {
      out += fmt::format("<path class=\"whisker c{}\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>",
                         style % kColours, x, frame.y(*point.low), frame.y(*point.high));
    }
    const double part = static_cast<double>(point.n.value_or(most)) / static_cast<double>(most);
    out += marker(x, y, 2.6 + 3 * std::sqrt(part), style % kMarkers,
                  fmt::format("{} c{}", series.hollow ? "hollow" : "mark", style % kColours));
  }
}

void draw_counts(std::string& out, const Plot& plot, const Frame& frame,
                 const std::vector<ColumnStyle>& columns) {
  double y = kTop + kPlotHeight + kAxisHeight + kCountHeight - 4;
  out += fmt::format("<text class=\"small\" x=\"2\" y=\"{}\">n</text>", y);
  for (const Series& series : plot.series) {
    if (!series.shown) continue;
    const std::size_t style = columns[series.column].style;
    out += marker(24, y - 4, 4, style % kMarkers, fmt::format("mark c{}", style % kColours));
    for (const PlotPoint& point : series.points) {
      out += fmt::format(
          "<text class=\"small\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
          frame.x(point.x), y, point.n.value_or(0));
    }
    y += kCountHeight;
  }
}

}  // namespace

std::string axis_value(const Axis& axis, double value) {
  if (axis.unit == Axis::Unit::Count) {
    const bool last = !axis.last.empty() && value >= std::floor(axis.high);
    return last ? axis.last : fmt::format("{:.0f}", value);
  }
  if (axis.unit == Axis::Unit::Share) {
    const std::string text = fmt::format("{:.3g}", value);
    return text.starts_with("0.") ? text.substr(1) : text;
  }
  if (value < 0.000999) return fmt::format("{:.3g} µs", value * 1e6);
  if (value < 0.999) return fmt::format("{:.3g} ms", value * 1e3);
  return fmt::format("{:.3g} s", value);
}

std::vector<double> axis_ticks(const Axis& axis) {
  std::vector<double> out;
  if (axis.log) {
    const auto collect = [&](std::initializer_list<double> steps) {
      out.clear();
      for (int power = -7; power < 6; ++power) {
        for (const double step : steps) {
          const double tick = step * std::pow(10, power);
          if (tick >= axis.low * 0.999 && tick <= axis.high * 1.001) out.push_back(tick);
        }
      }
    };
    collect({1, 2, 5});
    if (out.size() < 3) collect({1, 1.5, 2, 3, 5, 7});
    while (out.size() > 7) {
      std::vector<double> fewer;
      for (std::size_t i = 0; i < out.size(); i += 2) fewer.push_back(out[i]);
      out = fewer;
    }
    return out;
  }
  if (axis.unit == Axis::Unit::Count) {
    const auto low = static_cast<int>(std::ceil(axis.low)), high = static_cast<int>(axis.high);
    const int step = std::max(1, (high - low + 9) / 10);
    for (int tick = low; tick <= high; tick += step) out.push_back(tick);
    return out;
  }
  const double span = axis.high - axis.low;
  const double step = span > 0.5 ? 0.2 : span > 0.2 ? 0.1 : span > 0.1 ? 0.05 : 0.02;
  for (double tick = std::ceil(axis.low / step) * step; tick <= axis.high + 1e-9; tick += step) {
    out.push_back(std::abs(tick) < 1e-12 ? 0 : tick);
  }
  return out;
}

std::string as_svg(const Plot& plot, const std::vector<ColumnStyle>& columns,
                   const std::string& title) {
  const Frame frame(plot);
  std::size_t shown = 0;
  for (const Series& series : plot.series) shown += series.shown ? 1U : 0U;
  const double height = kTop + kPlotHeight + kAxisHeight +
                        (plot.counts ? kCountHeight * static_cast<double>(shown) : 0);
  std::string out =
      fmt::format("<svg class=\"plot-svg\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
                  kWidth, height, html(title));
  draw_axes(out, plot, frame);
  draw_references(out, plot, frame);
  // The best is drawn last, on top.
  for (auto series = plot.series.rbegin(); series != plot.series.rend(); ++series) {
    if (!series->shown || series->points.empty()) continue;
    const std::size_t style = columns[series->column].style;
    if (series->draw != Series::Draw::Points) draw_line(out, *series, frame, style);
    // A curve of one point would not be seen.
    if (series->draw == Series::Draw::Points || series->draw == Series::Draw::LineAndPoints ||
        series->points.size() == 1) {
      draw_points(out, *series, frame, style);
    }
  }
  if (plot.counts) draw_counts(out, plot, frame, columns);
  return out + "</svg>";
}

std::string swatch(std::size_t style, bool hollow) {
  return fmt::format(
             "<svg class=\"swatch\" viewBox=\"0 0 28 12\" aria-hidden=\"true\">"
             "<path class=\"line {}\" d=\"M1 6H27\"/>",
             style_class(style)) +
         marker(14, 6, 4, style % kMarkers,
                fmt::format("{} c{}", hollow ? "hollow" : "mark", style % kColours)) +
         "</svg>";
}

std::string interval_bar(std::optional<double> value, double low, double high,
                         const std::vector<double>& marks, const std::string& title, bool wide) {
  const double width = wide ? 340 : 100, height = wide ? 24 : 14, edge = wide ? 6 : 3;
  const double middle = height / 2;
  const auto x = [&](double share) {
    return edge + (width - 2 * edge) * std::clamp(share, 0.0, 1.0);
  };
  std::string out = fmt::format(
      "<svg class=\"bar\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">"
      "<path class=\"track\" d=\"M{} {}H{}\"/>",
      width, height, html(title), edge, middle, width - edge);
  for (const double mark : marks) {
    out += fmt::format("<path class=\"tick\" d=\"M{:.1f} {}V{}\"/>", x(mark), wide ? 4 : 1,
                       height - (wide ? 4 : 1));
  }
  if (value) {
    out += fmt::format(
        "<path class=\"range\" d=\"M{:.1f} {}H{:.1f}\"/>"
        "<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{}\" r=\"{}\"/>",
        x(low), middle, x(high), x(*value), middle, wide ? 5 : 3.2);
  }
  return out + "</svg>";
}

}  // namespace deem::report

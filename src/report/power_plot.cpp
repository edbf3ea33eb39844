#include "report/power_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "report/format.h"
#include "score/power_series.h"
#include "score/power_windows.h"

namespace deem::report {
namespace {

using record::PowerSegment;
using Point = PowerPlot::Point;
using Window = PowerPlot::Window;

constexpr double kGapPeriods = 3;  // readings further apart are not joined
constexpr double kNarrow = 3;      // pixels; windows of one label that are less are drawn as one

/// Of a run of points within one pixel: the first, the lowest, the highest, the last.
void add_thinned(std::span<const Point> pixel, std::vector<Point>& out) {
  const auto by_watts = [](const Point& a, const Point& b) { return a.watts < b.watts; };
  const auto [low, high] = std::ranges::minmax_element(pixel, by_watts);
  std::size_t kept[] = {0, static_cast<std::size_t>(low - pixel.begin()),
                        static_cast<std::size_t>(high - pixel.begin()), pixel.size() - 1};
  std::ranges::sort(kept);
  const auto end = std::unique(std::begin(kept), std::end(kept));
  for (auto at = std::begin(kept); at != end; ++at) out.push_back(pixel[*at]);
}

std::vector<Point> thinned(std::span<const Point> points, double length_s) {
  const auto pixel_of = [&](const Point& point) {
    return std::floor(point.t / std::max(length_s, 1e-9) * kPowerPlotPixels);
  };
  std::vector<Point> out;
  for (std::size_t first = 0; first < points.size();) {
    std::size_t last = first + 1;
    while (last < points.size() && pixel_of(points[last]) == pixel_of(points[first])) ++last;
    add_thinned(points.subspan(first, last - first), out);
    first = last;
  }
  return out;
}

class SegmentPlot {
 public:
  SegmentPlot(const PowerSegment& segment, std::size_t index, const std::string& run)
      : segment_(segment) {
    out_.run = run;
    out_.segment = index;
    out_.samples = segment.samples.size();
    out_.begin_s = segment.samples.front().mono_s;
    double end = segment.samples.back().mono_s;
    for (const record::PowerMark& mark : segment.marks) {
      out_.begin_s = std::min(out_.begin_s, mark.mono_s);
      end = std::max(end, mark.mono_s);
    }
    out_.length_s = end - out_.begin_s;
  }

  PowerPlot make() {
    std::vector<score::BoardSeries> series;
    for (std::size_t i = 0; i < segment_.boards.size(); ++i) {
      series.push_back(score::board_series(segment_, i));
    }
    const double reach = kGapPeriods * score::grid_period(segment_);
    const score::PowerCurves curves = score::power_curves(segment_, series, reach);
    if (segment_.boards.size() > 1) add_curve("all boards", true, curves.sum, reach);
    for (std::size_t i = 0; i < segment_.boards.size(); ++i) {
      add_curve(segment_.boards[i].id, false, curves.boards[i], reach);
    }
    add_windows();
    return std::move(out_);
  }

 private:
  void add_curve(const std::string& name, bool sum, const std::vector<std::optional<double>>& watts,
                 double reach) {
    PowerPlot::Curve curve{.name = name, .sum = sum};
    std::vector<Point> part;
    const auto close = [&] {
      if (!part.empty()) curve.parts.push_back(thinned(part, out_.length_s));
      part.clear();
    };
    for (std::size_t i = 0; i < watts.size(); ++i) {
      if (!watts[i]) continue;
      const double t = segment_.samples[i].mono_s - out_.begin_s;
      if (!part.empty() && t - part.back().t > reach) close();
      part.push_back({t, *watts[i]});
      out_.highest_w = std::max(out_.highest_w, *watts[i]);
    }
    close();
    if (!curve.parts.empty()) out_.curves.push_back(std::move(curve));
  }

  void add_windows() {
    const score::Windows found = score::find_windows(segment_);
    add(found.idle_before, Window::Kind::Idle, "idle before");
    add(found.idle_after, Window::Kind::Idle, "idle after");
    add(found.loads, Window::Kind::Load, "load");
    add(found.blocks, Window::Kind::Block, "");
    std::ranges::stable_sort(out_.windows, {}, &Window::from);
    merge_narrow();
  }

  void add(const std::vector<score::Window>& windows, Window::Kind kind, const std::string& label) {
    for (const score::Window& window : windows) {
      const record::PowerMark& mark = window.begin;
      const std::string probe = mark.probe.empty() ? "" : ", " + mark.probe;
      out_.windows.push_back(
          {.kind = kind,
           .from = mark.mono_s - out_.begin_s,
           .to = window.end.mono_s - out_.begin_s,
           .label = label.empty() ? mark.arm + " · " + mark.task + probe : label});
    }
  }

  void merge_narrow() {
    const double narrow = kNarrow / kPowerPlotPixels * out_.length_s;
    std::vector<Window> merged;
    for (Window& window : out_.windows) {
      if (!merged.empty()) {
        Window& last = merged.back();
        const bool close = window.from - last.to < narrow;
        if (last.label == window.label && close && last.to - last.from < narrow) {
          last.to = window.to;
          ++last.windows;
          continue;
        }
      }
      merged.push_back(std::move(window));
    }
    out_.windows = std::move(merged);
  }

  const PowerSegment& segment_;
  PowerPlot out_;
};

}  // namespace

std::vector<PowerPlot> plot_power(const record::PowerFile& power, const std::string& run) {
  std::vector<PowerPlot> out;
  for (std::size_t i = 0; i < power.segments.size(); ++i) {
    if (power.segments[i].samples.empty()) continue;
    PowerPlot plot = SegmentPlot(power.segments[i], i, run).make();
    if (!plot.curves.empty()) out.push_back(std::move(plot));
  }
  return out;
}

std::string describe(const PowerPlot& plot) {
  const auto boards =
      static_cast<std::size_t>(std::ranges::count(plot.curves, false, &PowerPlot::Curve::sum));
  std::size_t blocks = 0, idles = 0;
  for (const Window& window : plot.windows) {
    if (window.kind == Window::Kind::Block) blocks += window.windows;
    if (window.kind == Window::Kind::Idle) idles += window.windows;
  }
  return fmt::format("{} board{} for {} s, {} W at most; {} block{}, idle read {} time{}", boards,
                     boards == 1 ? "" : "s", number(plot.length_s, 1), number(plot.highest_w, 1),
                     blocks, blocks == 1 ? "" : "s", idles, idles == 1 ? "" : "s");
}

}  // namespace deem::report

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/format.h"
#include "report/html_text.h"
#include "report/plot.h"
#include "report/power_plot.h"

namespace deem::report {
namespace {

using Window = PowerPlot::Window;

constexpr double kLeft = 50, kRight = 14, kStrip = 16, kTop = kStrip + 8, kHeight = 200;
constexpr double kWidth = kLeft + kPowerPlotPixels + kRight, kBottom = kTop + kHeight;
constexpr double kAxis = 40, kLetter = 6.2;  // width of a letter of the strip

/// Time on the axis, in the unit that suits its length.
struct TimeAxis {
  double length = 0, scale = 1;  // length in that unit; seconds of one
  const char* unit = "s";
};

TimeAxis time_axis(double seconds) {
  if (seconds > 3 * 3'600) return {seconds / 3'600, 3'600, "h"};
  if (seconds > 10 * 60) return {seconds / 60, 60, "min"};
  return {seconds, 1, "s"};
}

/// 1, 2 or 5 times a power of ten, so that up to `most` of them make `span`.
double step_of(double span, double most) {
  const double least = std::max(span, 1e-9) / most;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= least * (1 - 1e-9)) return times * power;
  }
  return 10 * power;
}

class PowerDrawing {
 public:
  explicit PowerDrawing(const PowerPlot& plot)
      : plot_(plot), time_(time_axis(plot.length_s)), step_w_(step_of(plot.highest_w, 5)) {
    high_w_ = step_w_ * std::max(1.0, std::ceil(plot.highest_w / step_w_ - 1e-9));
  }

  std::string draw(const std::string& title) {
    out_ = fmt::format(
        "<svg class=\"plot-svg trace-svg\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
        kWidth, kBottom + kAxis, html(title));
    for (const Window& window : plot_.windows) draw_window(window);
    draw_axes();
    std::size_t style = 0;
    for (const PowerPlot::Curve& curve : plot_.curves) {
      draw_curve(curve, curve.sum ? "sum" : style_class(style));
      if (!curve.sum) ++style;
    }
    return out_ + "</svg>";
  }

  static std::string style_class(std::size_t board) {
    return fmt::format("c{} d{}", board % kColours, board / kColours % kDashes);
  }

 private:
  double x(double t) const {
    return kLeft + (plot_.length_s > 0 ? t / plot_.length_s : 0) * kPowerPlotPixels;
  }
  double y(double watts) const { return kTop + (1 - watts / high_w_) * kHeight; }

  void draw_window(const Window& window) {
    static constexpr const char* kClasses[] = {"idle", "load", "block"};
    const double from = x(window.from), to = std::max(x(window.to), from + 0.5);
    // Blocks that can not be told apart where they are drawn are drawn once.
    if (window.kind == Window::Kind::Block && to - drawn_ < 0.5) return;
    if (window.kind == Window::Kind::Block) drawn_ = to;
    const std::string times = window.windows > 1 ? fmt::format("{} × ", window.windows) : "";
    out_ += fmt::format(
        "<path class=\"window {}\" d=\"M{:.1f} {}H{:.1f}V{}H{:.1f}Z\"><title>{}{}, {} to {} s"
        "</title></path>",
        kClasses[static_cast<std::size_t>(window.kind)], from, kTop - kStrip - 4, to, kBottom, from,
        times, html(window.label), number(window.from, 1), number(window.to, 1));
    const double width = kLetter * static_cast<double>(count_code_points(visible(window.label)));
    if (to - from < width + 6 || from < labelled_) return;
    labelled_ = to;
    out_ +=
        fmt::format("<text class=\"small\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                    (from + to) / 2, kTop - 8, html(window.label));
  }

  void draw_axes() {
    for (int i = 0; i * step_w_ <= high_w_ * (1 + 1e-9); ++i) {
      const double watts = i * step_w_;
      out_ += fmt::format("<path class=\"gridline\" d=\"M{} {:.1f}H{}\"/>", kLeft, y(watts),
                          kLeft + kPowerPlotPixels);
      out_ += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.4g}</text>",
                          kLeft - 6, y(watts) + 4, watts);
    }
    const double step = step_of(time_.length, 10);
    for (int i = 0; i * step <= time_.length * (1 + 1e-9); ++i) {
      const double at = x(i * step * time_.scale);
      out_ += fmt::format("<path class=\"gridline\" d=\"M{0:.1f} {1}V{2}\"/>", at, kTop, kBottom);
      out_ += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.4g}</text>", at,
                          kBottom + 15, i * step);
    }
    out_ += fmt::format(
        "<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">time in {}</text>"
        "<text class=\"label\" transform=\"translate(11 {}) rotate(-90)\" "
        "text-anchor=\"middle\">power in W</text>",
        kLeft + kPowerPlotPixels / 2, kBottom + 33, time_.unit, kTop + kHeight / 2);
  }

  void draw_curve(const PowerPlot::Curve& curve, const std::string& classes) {
    for (const auto& part : curve.parts) {
      std::string path;
      for (const PowerPlot::Point& point : part) {
        path +=
            fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(point.t), y(point.watts));
      }
      if (part.size() == 1) path += "h1";  // or it would not be seen
      out_ += fmt::format("<path class=\"line trace {}\" d=\"{}\"/>", classes, path);
    }
  }

  const PowerPlot& plot_;
  TimeAxis time_;
  double step_w_ = 1, high_w_ = 1;
  double drawn_ = 0, labelled_ = 0;  // up to here, in pixels
  std::string out_;
};

}  // namespace

std::string as_svg(const PowerPlot& plot, const std::string& title) {
  return PowerDrawing(plot).draw(title);
}

}  // namespace deem::report

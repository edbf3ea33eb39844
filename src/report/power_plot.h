#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "record/power.h"

namespace deem::report {

/// One segment of a power trace as a page draws it: what boards drew over time, thin enough for its
/// pixels, and what was going on.
struct PowerPlot {
  struct Point {
    double t = 0, watts = 0;  // t: seconds since the plot's begin
  };
  /// A board, or all of them together; broken where readings are missing.
  struct Curve {
    std::string name = {};
    bool sum = false;
    std::vector<std::vector<Point>> parts = {};
  };
  struct Window {
    enum class Kind { Idle, Load, Block };
    Kind kind = Kind::Block;
    double from = 0, to = 0;  // seconds since the plot's begin
    std::string label = {};   // "a · place", "idle before"
    std::size_t windows = 1;  // several with one label where they are too narrow to tell apart
  };
  std::string run = {};
  std::size_t segment = 0;
  double begin_s = 0;  // on the segment's steady clock
  double length_s = 0, highest_w = 0;
  std::size_t samples = 0;
  std::vector<Curve> curves = {};
  std::vector<Window> windows = {};  // by their begin
};

/// A curve has at most four points a pixel of the plot's width: the first and the last of the
/// readings there, the lowest and the highest, so that no peak is lost. Segments without readings
/// are left out.
std::vector<PowerPlot> plot_power(const record::PowerFile& power, const std::string& run);

/// The plot as an <svg>; `title` says what it is to those who can not see it.
std::string as_svg(const PowerPlot& plot, const std::string& title);

/// "2 boards for 28.0 s, 300.0 W at most; 6 blocks, idle read 2 times"
std::string describe(const PowerPlot& plot);

inline constexpr double kPowerPlotPixels = 680;

}  // namespace deem::report

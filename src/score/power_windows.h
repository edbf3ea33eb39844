#pragma once

#include <cstddef>
#include <vector>

#include "record/power.h"

namespace deem::score {

/// A begin and its end.
struct Window {
  record::PowerMark begin = {}, end = {};
  double seconds() const { return end.mono_s - begin.mono_s; }
};

/// Windows by the order of their begins; marks without the other edge, and windows without length,
/// are counted.
struct Windows {
  std::vector<Window> idle_before = {}, idle_after = {}, loads = {}, blocks = {};
  std::size_t cut = 0;
};
Windows find_windows(const record::PowerSegment& segment);

/// Of the grid where it is stated, else the median distance of samples.
double grid_period(const record::PowerSegment& segment);

}  // namespace deem::score

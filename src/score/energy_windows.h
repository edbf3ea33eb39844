#pragma once

// Private to score: what the windows of a power trace hold, before anything is summed or judged.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "record/power.h"
#include "score/energy.h"
#include "score/power_series.h"
#include "score/power_windows.h"

namespace deem::score {

struct BoardWindow {
  std::string board = {};
  std::optional<double> joules = {}, counter_j = {};  // counter_j: where it counts
  std::size_t samples = 0;
  bool compared = false;  // watts and counter are two sources
};

/// A fault of a window, or what to know about it.
struct Remark {
  std::string code = {}, text = {};
  bool net_only = false;
  bool note = false;
};

/// One block or load as it was measured.
struct Measured {
  std::size_t segment = 0;
  Window window = {};
  double period_s = 0;  // a new reading comes this often
  std::vector<BoardWindow> boards = {};
  std::optional<double> gross_j = {}, peak_w = {};
  std::optional<double> idle_before_w = {}, idle_after_w = {};
  std::vector<Remark> remarks = {};  // none twice with one code
};

/// All blocks, or all loads, of one segment.
struct MeasuredSegment {
  std::vector<Measured> blocks = {}, loads = {};
  std::size_t cut = 0;
};
MeasuredSegment measure_segment(const record::PowerSegment& segment, std::size_t index,
                                const EnergyOptions& options);

}  // namespace deem::score

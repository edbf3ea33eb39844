#pragma once

// Builds power traces for tests, each value given by a function of time.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "record/power.h"

namespace deem::score {

struct TraceBoard {
  std::function<std::optional<double>(double)> watts = {}, joules = {};
  std::function<record::PowerReading(record::PowerReading, double)> rest = {};
};

inline auto constant(double value) {
  return [value](double) { return std::optional(value); };
}

/// Samples at `from`, `from` + period … up to `to`.
inline record::PowerSegment trace(double from, double to, double period,
                                  const std::vector<TraceBoard>& boards) {
  record::PowerSegment out;
  out.period_s = period;
  for (std::size_t i = 0; i < boards.size(); ++i) {
    record::PowerBoard board;
    board.id = "board-" + std::to_string(i);
    board.has_counter = static_cast<bool>(boards[i].joules);
    out.boards.push_back(board);
  }
  for (std::size_t tick = 0;; ++tick) {
    record::PowerSample sample;
    sample.mono_s = from + static_cast<double>(tick) * period;
    sample.wall_s = 1e9 + sample.mono_s;
    if (sample.mono_s > to) break;
    for (const TraceBoard& board : boards) {
      record::PowerReading reading;
      if (board.watts) reading.watts = board.watts(sample.mono_s);
      if (board.joules) reading.energy_j = board.joules(sample.mono_s);
      if (board.rest) reading = board.rest(reading, sample.mono_s);
      sample.boards.push_back(reading);
    }
    out.samples.push_back(sample);
  }
  return out;
}

inline void add_window(record::PowerSegment& to, record::PowerMark::Kind kind, double begin,
                       double end, const std::string& arm = "", const std::string& task = "",
                       std::int64_t rows = 0, const std::string& probe = "") {
  record::PowerMark mark;
  mark.kind = kind;
  mark.mono_s = begin;
  mark.arm = arm;
  mark.task = task;
  mark.probe = probe;
  to.marks.push_back(mark);
  mark.begin = false;
  mark.mono_s = end;
  mark.rows = rows;
  to.marks.push_back(mark);
}

inline void add_block(record::PowerSegment& to, double begin, double end, std::int64_t rows = 1,
                      const std::string& arm = "a", const std::string& task = "t",
                      const std::string& probe = "") {
  add_window(to, record::PowerMark::Kind::Block, begin, end, arm, task, rows, probe);
}

inline record::PowerFile file_of(record::PowerSegment segment) {
  record::PowerFile out;
  out.segments.push_back(std::move(segment));
  return out;
}

}  // namespace deem::score

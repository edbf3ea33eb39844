#pragma once

// Builds power traces for tests, each value given by a function of time.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "record/power.h"
#include "score/energy.h"

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

inline std::string codes(const std::vector<EnergyReason>& reasons) {
  std::string out;
  for (const EnergyReason& reason : reasons) out += (out.empty() ? "" : " ") + reason.code;
  return out;
}

/// Figures of the only block from `begin` to `end` of a trace.
inline EnergyFigures block(record::PowerSegment segment, double begin, double end,
                           std::int64_t rows = 1) {
  add_block(segment, begin, end, rows);
  const RunEnergy energy = energy_of(file_of(std::move(segment)));
  EXPECT_EQ(energy.blocks.size(), 1U);
  return energy.blocks.at(0);
}

/// `watts` while working from 10 s to 20 s; idle read before (0 to 5 s) and after (25 to 30 s).
inline record::PowerSegment between_idles(
    double before, double after, double watts,
    std::function<std::optional<double>(double)> joules = {}) {
  const auto power = [=](double t) {
    return std::optional(t < 7 ? before : t < 22 ? watts : after);
  };
  record::PowerSegment segment =
      trace(0, 30, 0.125, {{.watts = power, .joules = std::move(joules)}});
  add_window(segment, record::PowerMark::Kind::IdleBefore, 0, 5);
  add_window(segment, record::PowerMark::Kind::IdleAfter, 25, 30);
  return segment;
}

}  // namespace deem::score

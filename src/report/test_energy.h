#pragma once

// A run with joules made by hand, for tests of reports.

#include <string>

#include "record/power.h"
#include "report/energy.h"
#include "score/energy.h"

namespace deem::report {

inline void add_window(record::PowerSegment& segment, record::PowerMark::Kind kind, double begin,
                       double end, const std::string& arm = "", const std::string& task = "",
                       std::int64_t rows = 0) {
  record::PowerMark mark;
  mark.kind = kind;
  mark.mono_s = begin;
  mark.arm = arm;
  mark.task = task;
  segment.marks.push_back(mark);
  mark.begin = false;
  mark.mono_s = end;
  mark.rows = rows;
  segment.marks.push_back(mark);
}

/// Two boards read twice a second for 28 s from 100 s on: 30 and 20 W, from 107 to 121 s 200 and
/// 100 W. Idle is read from 100 to 106 s and from 122 to 128 s, six decisions of `arm` on `task`
/// are made from 108 to 120 s: 3600 J gross, 3000 J net, 500 J a decision.
inline record::PowerFile hand_made_power(const std::string& arm, const std::string& task) {
  record::PowerSegment segment;
  segment.period_s = 0.5;
  segment.boards = {{.id = "GPU-a"}, {.id = "GPU-b"}};
  for (int i = 0; i <= 56; ++i) {
    const double t = 100 + i * 0.5;
    const bool busy = t >= 107 && t <= 121;
    record::PowerSample sample{.mono_s = t, .wall_s = 1e9 + t, .boards = {}};
    sample.boards.resize(2);
    sample.boards[0].watts = busy ? 200 : 30;
    sample.boards[1].watts = busy ? 100 : 20;
    segment.samples.push_back(sample);
  }
  using Kind = record::PowerMark::Kind;
  add_window(segment, Kind::IdleBefore, 100, 106);
  add_window(segment, Kind::Block, 108, 120, arm, task, 6);
  add_window(segment, Kind::IdleAfter, 122, 128);
  record::PowerFile out;
  out.segments.push_back(std::move(segment));
  return out;
}

inline RunJoules hand_made_joules(const std::string& arm, const std::string& task) {
  return {.run = "runs/x", .energy = score::energy_of(hand_made_power(arm, task)), .pins = {}};
}

}  // namespace deem::report

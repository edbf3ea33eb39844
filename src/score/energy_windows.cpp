#include "score/energy_windows.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace deem::score {
namespace {

using record::PowerEvent;
using record::PowerMark;
using record::PowerReading;
using record::PowerSample;
using record::PowerSegment;

constexpr std::uint64_t kPowerCap = 0x4;
constexpr std::uint64_t kThrottled = 0x8 | 0x20 | 0x40 | 0x80;  // hardware, thermal, power brake
constexpr double kRounding = 1e-6;  // share by which two durations may differ and be equal

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

class SegmentMeter {
 public:
  SegmentMeter(const PowerSegment& segment, std::size_t index, const EnergyOptions& options)
      : segment_(segment), index_(index), options_(options), grid_(grid_period(segment)) {
    reach_ = grid_ * options.max_gap_periods * (1 + kRounding);
    for (std::size_t i = 0; i < segment.boards.size(); ++i) {
      series_.push_back(board_series(segment, i));
      period_ = std::max(period_, segment.boards[i].reading_period_s.value_or(0));
    }
    period_ = std::max(period_, grid_);
    curves_ = power_curves(segment, series_, reach_);
  }

  /// `resident`: when the model was there and nobody else had come yet.
  Measured measure(const Window& window, double resident) const {
    Measured out{.segment = index_, .window = window, .period_s = period_};
    measure_boards(window, out);
    out.peak_w = peak(window);
    watch_events(window, out);
    watch_readings(window, resident, out);
    return out;
  }

  /// A block and what the boards drew idle, by the windows that lie next to it.
  Measured measure_block(const Windows& windows, const Window& window) const {
    const Window* before = nullptr;
    const Window* after = nullptr;
    for (const Window& idle : windows.idle_before) {
      if (idle.end.mono_s <= window.begin.mono_s) before = &idle;
    }
    for (const Window& idle : windows.idle_after) {
      if (after == nullptr && idle.begin.mono_s >= window.end.mono_s) after = &idle;
    }
    Measured block = measure(window, before != nullptr ? before->end.mono_s : window.begin.mono_s);
    add_idle(before, after, block);
    return block;
  }

 private:
  void add_idle(const Window* before, const Window* after, Measured& block) const {
    block.idle_before_w = idle_watts(before, "before", block);
    block.idle_after_w = idle_watts(after, "after", block);
    if (!block.idle_before_w || !block.idle_after_w) return;
    const double a = *block.idle_before_w, b = *block.idle_after_w, change = std::abs(b - a);
    if (change > options_.idle_drift_w && change > options_.idle_drift_share * (a + b) / 2) {
      remark(block, "idle_drifted",
             "idle was " + text_of(a) + " W before and " + text_of(b) + " W after", true);
    }
  }

  static void remark(Measured& to, std::string_view code, std::string text, bool net_only = false,
                     bool note = false) {
    const bool known =
        std::ranges::any_of(to.remarks, [&](const Remark& r) { return r.code == code; });
    if (!known) to.remarks.push_back({std::string(code), std::move(text), net_only, note});
  }

  const std::string& name(std::size_t board) const { return segment_.boards[board].id; }

  void measure_boards(const Window& window, Measured& out) const {
    const double begin = window.begin.mono_s, end = window.end.mono_s;
    double gross = 0;
    bool all = !series_.empty();
    if (!all) remark(out, "no_readings", "no board was read");
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const BoardSeries& series = series_[i];
      const Integral power = integrate_power(series, begin, end, reach_);
      const Integral counter = integrate_counter(series, begin, end, reach_);
      BoardWindow& board = out.boards.emplace_back();
      board.board = name(i);
      board.joules = power.joules;
      board.counter_j = counter.joules;
      board.samples = power.samples;
      board.compared = !series.by_counter() && power.joules && counter.joules;
      if (counter.went_back) {
        remark(out, "driver_reload", "the counter of " + name(i) + " went back");
      } else if (!power.joules) {
        remark(out, "no_readings",
               name(i) + " has no readings over the whole of it: the sum is not measured");
      }
      if (power.samples < 2) {
        remark(out, "few_samples",
               name(i) + " was read " + std::to_string(power.samples) + " times in it, under 2");
      }
      if (power.longest_gap_s > reach_) {
        // A counter counts through a hole in the readings.
        const bool counted = board.compared && std::abs(*counter.joules - *power.joules) <=
                                                   options_.counted_gap * *power.joules;
        remark(out, counted ? "gap_counted" : "gap",
               name(i) + " was not read for " + text_of(power.longest_gap_s) + " s, over " +
                   text_of(options_.max_gap_periods) + " periods of " + text_of(grid_) + " s" +
                   (counted ? ", but its counter agrees" : ""),
               false, counted);
      }
      all = all && power.joules;
      gross += power.joules.value_or(0);
    }
    if (all) out.gross_j = gross;
  }

  /// The samples from `begin` to `end`, both included.
  std::pair<std::size_t, std::size_t> ticks(double begin, double end) const {
    const auto at = [](const PowerSample& sample) { return sample.mono_s; };
    const auto& samples = segment_.samples;
    const auto first = std::ranges::lower_bound(samples, begin, {}, at);
    const auto last = std::ranges::upper_bound(samples, end, {}, at);
    return {static_cast<std::size_t>(first - samples.begin()),
            static_cast<std::size_t>(last - samples.begin())};
  }

  std::optional<double> peak(const Window& window) const {
    const auto [first, last] = ticks(window.begin.mono_s, window.end.mono_s);
    std::optional<double> out;
    for (std::size_t i = first; i < last; ++i) {
      if (curves_.sum[i] && (!out || *curves_.sum[i] > *out)) out = curves_.sum[i];
    }
    return out;
  }

  void watch_events(const Window& window, Measured& out) const {
    for (const PowerEvent& event : segment_.events) {
      if (event.mono_s < window.begin.mono_s || event.mono_s > window.end.mono_s) continue;
      const std::string on = event.board.empty() ? "all boards" : event.board;
      if (event.what == "driver_reload" || event.what == "counter_reset") {
        remark(out, "driver_reload", event.what + " of " + on);
      } else if (event.what == "board_lost") {
        remark(out, "board_lost", on + " was lost");
      } else if (event.what == "process") {
        remark(out, "other_process", "another process on " + on);
      } else if (event.what == "neighbour") {
        remark(out, "other_process", on + ": " + event.detail);
      } else if (event.what == "residency") {
        remark(out, "residency", on + ": " + event.detail, false, true);
      }
    }
  }

  void watch_readings(const Window& window, double resident, Measured& out) const {
    const auto [first, last] = ticks(window.begin.mono_s, window.end.mono_s);
    for (std::size_t board = 0; board < segment_.boards.size(); ++board) {
      const auto told_before = processes_before(board, resident);
      std::optional<std::int64_t> least = told_before;
      for (std::size_t i = first; i < last; ++i) {
        if (board >= segment_.samples[i].boards.size()) continue;
        const PowerReading& reading = segment_.samples[i].boards[board];
        const std::uint64_t reasons = reading.clock_reasons.value_or(0);
        if ((reasons & kThrottled) != 0) {
          char bits[32];
          std::snprintf(bits, sizeof bits, "0x%llx", static_cast<unsigned long long>(reasons));
          remark(out, "throttled", name(board) + " was slowed down (clock reasons " + bits + ")");
        }
        if ((reasons & kPowerCap) != 0) {
          remark(out, "power_cap", name(board) + " was at its power cap", false, true);
        }
        if (!reading.processes) continue;
        if (!least) least = reading.processes;
        if (*reading.processes > *least) {
          remark(out, "other_process",
                 name(board) + " had " + std::to_string(*reading.processes) +
                     " processes, before it " + std::to_string(*least));
        }
        if (*reading.processes > 1) {
          remark(out, "several_processes",
                 std::to_string(*reading.processes) + " processes on " + name(board), false, true);
        }
      }
    }
  }

  /// The board's processes as it last told them up to `time`.
  std::optional<std::int64_t> processes_before(std::size_t board, double time) const {
    constexpr std::size_t kFarEnough = 100;  // samples; further back says little of then
    const std::size_t end = ticks(time, time).second;
    for (std::size_t i = end; i > 0 && end - i < kFarEnough; --i) {
      const PowerSample& sample = segment_.samples[i - 1];
      if (board < sample.boards.size() && sample.boards[board].processes) {
        return sample.boards[board].processes;
      }
    }
    return std::nullopt;
  }

  std::optional<double> idle_watts(const Window* idle, std::string_view which,
                                   Measured& block) const {
    const std::string side(which);
    if (idle == nullptr) {
      remark(block, "idle_missing", "idle was not read " + side + " it", true);
      return std::nullopt;
    }
    const Measured measured = measure(*idle, idle->begin.mono_s);
    if (!measured.gross_j) {
      remark(block, "idle_missing", "idle " + side + " it was not measured", true);
      return std::nullopt;
    }
    // What spoils a block spoils what is taken off it.
    for (const Remark& one : measured.remarks) {
      if (one.note || one.code == "few_samples") continue;
      remark(block, "idle_disturbed", "idle " + side + " it: " + one.text, true);
    }
    compare_company(*idle, side, block);
    if (idle->seconds() < options_.min_periods * period_ * (1 - kRounding)) {
      remark(block, "idle_short",
             "idle " + side + " it was read for " + text_of(idle->seconds()) + " s, under " +
                 text_of(options_.min_periods) + " periods of " + text_of(period_) + " s",
             true);
    }
    return *measured.gross_j / idle->seconds();
  }

  /// The fewest and the most processes told of a board in a window; none: not told.
  std::optional<std::pair<std::int64_t, std::int64_t>> processes_in(std::size_t board,
                                                                    const Window& window) const {
    const auto [first, last] = ticks(window.begin.mono_s, window.end.mono_s);
    std::optional<std::pair<std::int64_t, std::int64_t>> out;
    for (std::size_t i = first; i < last; ++i) {
      if (board >= segment_.samples[i].boards.size()) continue;
      const auto& told = segment_.samples[i].boards[board].processes;
      if (!told) continue;
      if (!out) out = {*told, *told};
      out->first = std::min(out->first, *told);
      out->second = std::max(out->second, *told);
    }
    return out;
  }

  /// Another's work in an idle window that was gone in the block makes net too small.
  void compare_company(const Window& idle, const std::string& side, Measured& block) const {
    for (std::size_t i = 0; i < segment_.boards.size(); ++i) {
      const auto at_rest = processes_in(i, idle), at_work = processes_in(i, block.window);
      if (!at_rest || !at_work || at_rest->second <= at_work->first) continue;
      remark(block, "idle_disturbed",
             "idle " + side + " it: " + name(i) + " had " + std::to_string(at_rest->second) +
                 " processes, in it " + std::to_string(at_work->first),
             true);
    }
  }

  const PowerSegment& segment_;
  std::size_t index_;
  const EnergyOptions& options_;
  double grid_ = 0, period_ = 0, reach_ = 0;
  std::vector<BoardSeries> series_;
  PowerCurves curves_;
};

}  // namespace

MeasuredSegment measure_segment(const PowerSegment& segment, std::size_t index,
                                const EnergyOptions& options) {
  const Windows windows = find_windows(segment);
  const SegmentMeter meter(segment, index, options);
  MeasuredSegment out{.cut = windows.cut};
  for (const Window& window : windows.loads) {
    out.loads.push_back(meter.measure(window, window.begin.mono_s));
  }
  double until = 0;  // the latest end of the blocks so far
  for (const Window& window : windows.blocks) {
    out.blocks.push_back(meter.measure_block(windows, window));
    if (out.blocks.size() > 1 && window.begin.mono_s < until) {
      out.blocks.back().remarks.push_back(
          {"blocks_overlap", "it overlaps another block, whose joules are counted twice"});
    }
    until = std::max(until, window.end.mono_s);
  }
  return out;
}

}  // namespace deem::score

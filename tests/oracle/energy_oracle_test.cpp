// Random power traces of every quality: the joules deem prints of them must be what
// tools/recompute_energy.py computes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>

#include "base/file.h"
#include "base/process.h"
#include "record/power.h"
#include "record/row.h"
#include "record/run.h"

namespace deem {
namespace {

using record::PowerEvent;
using record::PowerMark;
using record::PowerReading;

/// How one board of a trace behaves.
struct BoardManner {
  bool watts = true, counter = true;
  double counter_scale = 1, silent_share = 0, watts_now = 60, joules_now = 5'000;
  double reset_at = 1e300;
  bool tells_reasons = false, tells_processes = false;
};

/// Writes segments as sittings of every quality would: silent boards, holes in the grid, counters
/// that go back or disagree, throttling, strangers on a board, idle windows missing, short or
/// drifted, blocks too short to be resolved, blocks cut off.
class TraceMaker {
 public:
  explicit TraceMaker(unsigned seed) : engine_(seed) {}

  std::string make(std::size_t segments) {
    std::string out;
    double begin = 1'000;
    for (std::size_t i = 0; i < segments; ++i) begin = add_segment(begin, out);
    return out;
  }
  /// Decisions of all blocks that were not cut off, by arm.
  const std::map<std::string, std::int64_t>& decisions() const { return decisions_; }

 private:
  struct Timed {
    double at = 0;
    std::string line;
  };

  double unit() { return std::uniform_real_distribution<double>()(engine_); }
  bool odd(std::size_t one_in) { return below(one_in) == 0; }
  std::size_t below(std::size_t n) { return engine_() % n; }

  double add_segment(double begin, std::string& out) {
    record::PowerSegment head;
    head.boot_id = "3f2a9c1e-0000-4000-8000-000000000000";
    head.period_s = odd(5) ? 0 : 0.25;
    manners_.clear();
    for (std::size_t i = 0; i < 1 + below(3); ++i) head.boards.push_back(next_board(i));
    out += record::format_power_heading(head) + "\n";
    lines_.clear();
    const double end = add_windows(begin + 1 + unit());
    add_samples(begin, end + 1, head.boot_id);
    add_events(begin, end);
    std::ranges::stable_sort(lines_, {}, &Timed::at);
    for (const Timed& one : lines_) out += one.line + "\n";
    return end + 50;
  }

  record::PowerBoard next_board(std::size_t place) {
    BoardManner manner;
    manner.watts = !odd(8);
    manner.counter = !manner.watts || !odd(3);
    manner.counter_scale = odd(3) ? 1.1 : 1.01;
    manner.silent_share = odd(3) ? 0.2 : 0;
    if (odd(6)) manner.reset_at = 1'000 + 60 * unit();
    manner.tells_reasons = odd(2);
    manner.tells_processes = odd(2);
    manners_.push_back(manner);
    record::PowerBoard board;
    board.id = "GPU-" + std::to_string(place);
    board.source = "scripted";
    board.has_counter = manner.counter;
    if (odd(3)) board.reading_period_s = 0.5;
    return board;
  }

  void add_window(PowerMark::Kind kind, double from, double to, const std::string& arm,
                  const std::string& task, const std::string& probe, bool cut) {
    PowerMark mark;
    mark.kind = kind;
    mark.mono_s = from;
    mark.arm = arm;
    mark.task = task;
    mark.probe = probe;
    lines_.push_back({from, record::format_power_mark(mark)});
    if (cut) return;
    mark.begin = false;
    mark.mono_s = to;
    if (kind == PowerMark::Kind::Block) {
      mark.rows = static_cast<std::int64_t>(below(6));
      mark.has_prompt_tokens = !odd(12);
      mark.prompt_tokens = static_cast<std::int64_t>(below(900));
      decisions_[arm] += mark.rows;
    }
    lines_.push_back({to, record::format_power_mark(mark)});
  }

  /// Idle, blocks, idle. The end of it.
  double add_windows(double at) {
    const auto rounded = [](double t) { return std::round(t * 1e6) / 1e6; };
    const auto idle = [&](PowerMark::Kind kind) {
      const double to = rounded(at + (odd(4) ? 1 : 6));
      if (!odd(5)) add_window(kind, rounded(at), to, "", "", "", false);
      at = to + 1;
    };
    idle(PowerMark::Kind::IdleBefore);
    for (std::size_t i = 3 + below(12); i > 0; --i) {
      const double from = rounded(at), to = rounded(from + 0.2 + 6 * unit());
      const std::string task = odd(3) ? "u" : "t", probe = odd(5) ? "noise" : "";
      add_window(PowerMark::Kind::Block, from, to, odd(3) ? "b" : "a", task, probe, odd(15));
      at = odd(3) ? to + unit() : to;
    }
    at += 1;
    idle(PowerMark::Kind::IdleAfter);
    return at;
  }

  PowerReading reading_of(BoardManner& manner, double now, double passed, double target) {
    const double before = manner.watts_now;
    manner.watts_now = std::max(5.0, before + 0.5 * (target - before) + 20 * (unit() - 0.5));
    manner.joules_now += (before + manner.watts_now) / 2 * passed * manner.counter_scale;
    if (now > manner.reset_at) {
      manner.joules_now = 0;
      manner.reset_at = 1e300;
    }
    PowerReading out;
    if (unit() < manner.silent_share) return out;
    if (manner.watts) out.watts = manner.watts_now;
    if (manner.counter) out.energy_j = manner.joules_now;
    if (manner.tells_reasons) out.clock_reasons = odd(40) ? 0x20 : odd(20) ? 0x4 : 0x0;
    if (manner.tells_processes) out.processes = odd(60) ? 2 : 1;
    return out;
  }

  void add_samples(double begin, double end, const std::string& boot) {
    double target = 60, last = begin;
    for (double now = begin; now < end; now += 0.25) {
      if (odd(40)) target = 60 + 200 * unit();
      if (odd(80)) now += 0.25 * static_cast<double>(1 + below(5));  // a hole in the grid
      record::PowerSample sample;
      sample.mono_s = now;
      sample.wall_s = 1e9 + now;
      for (BoardManner& manner : manners_) {
        sample.boards.push_back(reading_of(manner, now, now - last, target));
      }
      last = now;
      lines_.push_back({now, record::format_power_sample(sample, boot)});
    }
  }

  void add_events(double begin, double end) {
    for (const char* what : {"board_lost", "process", "driver_reload", "missed"}) {
      if (!odd(5)) continue;
      PowerEvent event;
      event.what = what;
      event.mono_s = begin + (end - begin) * unit();
      event.board = odd(2) ? "GPU-0" : "";
      lines_.push_back({event.mono_s, record::format_power_event(event)});
    }
  }

  std::mt19937_64 engine_;
  std::vector<BoardManner> manners_;
  std::vector<Timed> lines_;
  std::map<std::string, std::int64_t> decisions_;
};

std::string rows_of(const std::map<std::string, std::int64_t>& decisions) {
  std::string out;
  for (const auto& [arm, n] : decisions) {
    for (std::int64_t i = 0; i < std::max<std::int64_t>(n, 1); ++i) {
      record::Row row;
      row.arm = arm;
      row.task = "t";
      row.id = "item-" + std::to_string(i);
      row.mode = "readout";
      row.keys = {"no", "yes"};
      row.label = "yes";
      row.state_id = row.id;
      row.stamp = "2026-12-02T00:00:00Z";
      record::ReadingRecord reading;
      record::ReadingRecord::Round round;
      round.options = {0, 1};
      round.letters.logprobs = {-2.0, -0.2};
      round.letters.mass_letters = 1;
      reading.rounds.push_back(std::move(round));
      row.readings["letters"] = std::move(reading);
      out += record::format_row(row) + "\n";
    }
  }
  return out;
}

std::string run_of(unsigned seed) {
  record::RunRecord run;
  run.deem = "0.1.0";
  run.kit_digest = "00";
  run.ended = run.started = "2026-12-02T00:00:00Z";
  codec::Json arms = codec::Json::object();
  for (const char* name : {"a", "b"}) {
    const bool lacking = seed % 7 == 0 && *name == 'b';
    arms.set(name, codec::Json::object(
                       {{"status", lacking ? "not measured (its seat is far away)" : "ok"}}));
    record::ArmRecord arm;
    arm.name = name;
    arm.mode = "readout";
    run.arms.push_back(std::move(arm));
  }
  run.energy = codec::Json::object({{"status", "ok"}, {"arms", std::move(arms)}});
  return record::format_run(run);
}

class EnergyOracle : public testing::TestWithParam<unsigned> {};

TEST_P(EnergyOracle, RecomputesTheJoulesOfARandomTrace) {
  const char* python = std::getenv("DEEM_ORACLE_PYTHON");
  if (python == nullptr || *python == '\0') {
    GTEST_SKIP() << "DEEM_ORACLE_PYTHON is not set; make test sets it";
  }
  std::string folder = (std::filesystem::temp_directory_path() / "deem-joules-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  TraceMaker maker(GetParam());
  ASSERT_TRUE(write_file_atomically(join_path(folder, "power.jsonl"), maker.make(3)));
  ASSERT_TRUE(write_file_atomically(join_path(folder, "rows.jsonl"), rows_of(maker.decisions())));
  ASSERT_TRUE(write_file_atomically(join_path(folder, "run.json"), run_of(GetParam())));
  const auto scored = run_process({.argv = {DEEM_PROGRAM, "score", folder, "--format", "json"},
                                   .environment = own_environment()},
                                  Seconds(60));
  ASSERT_TRUE(scored && scored->ending.succeeded()) << (scored ? scored->errors : "");
  const std::string scores = join_path(folder, "score.json");
  ASSERT_TRUE(write_file_atomically(scores, scored->output));
  const auto checked =
      run_process({.argv = {python, "-W", "ignore", DEEM_SOURCE_DIR "/tools/recompute.py",
                            join_path(folder, "rows.jsonl"), scores},
                   .environment = own_environment()},
                  Seconds(300));
  ASSERT_TRUE(checked);
  EXPECT_TRUE(checked->ending.succeeded()) << folder << "\n" << checked->output << checked->errors;
  std::printf("%s", checked->output.c_str());
  if (!HasFailure()) std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EnergyOracle, testing::Values(2U, 3U, 5U, 7U),
                         [](const auto& p) { return std::to_string(p.param); });

}  // namespace
}  // namespace deem

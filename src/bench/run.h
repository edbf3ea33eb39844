#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "bench/config.h"
#include "board/board.h"
#include "record/row.h"
#include "record/run.h"
#include "seat/seat.h"

namespace deem::bench {

/// Makes a seat; a test may put a scripted one here.
using SeatFactory = std::function<Result<std::unique_ptr<seat::Seat>>(const seat::SeatSpec&)>;

/// What is said when a run starts.
struct Announcement {
  std::string folder, host;
  std::vector<std::string> arms, tasks;
  std::string started;
  std::string energy;  // "of GPU-…, 10 s of idle before and after", "not measured (why)"
  std::size_t rows = 0, done_before = 0;
  std::optional<double> expected_minutes;  // from earlier runs of the same arms on the same kit
};

struct Progress {
  std::size_t done = 0, total = 0;  // rows, those of earlier sittings included
  std::size_t asked_now = 0;        // rows asked in this sitting
  Seconds elapsed{};                // of asking in this sitting
};

/// Who listens to a run. Calls come from any thread, one at a time.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void stage(const std::string& what) = 0;  // "census: arm letters, 240 prompts"
  virtual void announce(const Announcement& announcement) = 0;
  virtual void row(const record::Row& row, const Progress& progress) = 0;
  virtual void note(const std::string& what) = 0;  // a finding or a warning
};

struct Outcome {
  /// PinFailed, PinNotMeasured: a pin that was required; SeatRefused, SeatNotMeasured: what was
  /// required of a seat's diagnosis. Nothing was asked.
  enum class End {
    Done,
    Interrupted,
    TooManyErrors,
    PinFailed,
    PinNotMeasured,
    SeatRefused,
    SeatNotMeasured,
    SeatDoubted  // every row is there, but a seat was not what it had been; required to be
  };
  End end = End::Done;
  bool began = true;  // false: stopped before the first row, and a new run left nothing behind
  std::string folder;
  std::size_t rows = 0, asked_now = 0, errors = 0, refused = 0;
  std::string why = {};  // of a pin or a seat: the arm and what was found
};

/// Runs `config` into its folder, or goes on with what is missing there when it holds the same
/// run (`resume` tells which is meant). Order: identity → pin → diagnosis → letter proof → census →
/// refusals → asking → the seats again. Errors: BadInput (kit refused, settings differ, folder in
/// use for another run), Unavailable (a seat does not answer, the disk is full). Rows written so
/// far are kept.
struct RunOptions {
  bool resume = false;
  bool retry_errors = false;
  board::BoardOptions boards = board::options_from_environment();
};
Result<Outcome> run(const Config& config, const RunOptions& options, const SeatFactory& make_seat,
                    Observer& observer, std::stop_token stop);

/// The config a run folder was made with, from its run.json.
Result<Config> load_run_config(const std::string& folder);

/// What `--dry-run` prints: the plan and its seeds, no seat asked.
struct DryRun {
  kit::Kit kit;
  Order order = Order::State;                                       // as it would be asked
  std::string energy;                                               // as announced
  std::vector<std::pair<std::string, std::string>> probes_by_seat;  // of the diagnosis, with commas
  std::size_t rows = 0;
  std::vector<std::pair<std::string, std::size_t>> rows_by_arm, rows_by_task;
  std::map<std::string, std::size_t> rows_by_probe;  // "order" for all orders; part of the above
};
Result<DryRun> dry_run(const Config& config);

}  // namespace deem::bench

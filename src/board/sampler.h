#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "board/board.h"
#include "board/watch.h"
#include "record/power.h"

namespace deem::board {

/// What a sampler hands its samples to. Called on the sampler's thread alone, in order of time.
/// An error ends the sampling and is kept.
class PowerSink {
 public:
  virtual ~PowerSink() = default;
  virtual Result<void> sample(const record::PowerSample& sample) = 0;
  virtual Result<void> event(const record::PowerEvent& event) = 0;
};

/// Seconds of the steady clock since boot, as PowerSample::mono_s and the marks of a power file.
double mono_now_s();
/// /proc/sys/kernel/random/boot_id; "" where unreadable.
std::string boot_id();

/// The heading of a power file: boot id, period and boards.
record::PowerSegment make_heading(std::span<const BoardInfo> boards, double period_s);

/// Reads boards on a fixed grid in a thread of its own. A late read skips points of the grid, which
/// it counts and tells as an event; it never shifts the rest. Ends within one read of stop().
class Sampler {
 public:
  static constexpr double kLeastPeriod = 0.1, kMostPeriod = 60;  // seconds

  /// Begins at once. `boards` and `sink` must outlive this. Errors: BadInput for a period outside
  /// the limits or without boards.
  static Result<std::unique_ptr<Sampler>> start(Boards& boards, std::vector<BoardInfo> which,
                                                double period_s, PowerSink& sink);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler();

  /// Ends the thread; no call of the sink comes after it. Errors: what the sink failed with.
  Result<void> stop();
  /// Waits until `stop`, the deadline, or the sink's first error; true while it goes on sampling.
  bool wait(TimePoint deadline, const std::stop_token& stop);

  struct Counts {
    std::uint64_t samples = 0, missed = 0, events = 0;
  };
  Counts counts() const;
  /// The last sample, none before the first.
  std::optional<record::PowerSample> last() const;

 private:
  Sampler(Boards& boards, std::vector<BoardInfo> which, double period_s, PowerSink& sink);
  void run(const std::stop_token& stop);
  Result<void> tick();
  Result<void> tell(const record::PowerEvent& event);

  Boards& boards_;
  PowerSink& sink_;
  const std::vector<std::string> ids_;
  const double period_s_;
  Watch watch_;                               // the thread's alone
  mutable std::mutex mutex_;                  // guards all below but the thread
  std::condition_variable_any sleep_, wake_;  // of the thread; of wait()
  Counts counts_;
  std::optional<record::PowerSample> last_;
  std::optional<Error> error_;
  std::jthread thread_;
};

}  // namespace deem::board

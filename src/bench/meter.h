#pragma once

#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "bench/run.h"
#include "bench/run_boards.h"
#include "bench/sitting.h"
#include "board/power_log.h"
#include "board/residency.h"
#include "board/sampler.h"

namespace deem::bench {

/// Reads the boards of one seat while it is asked, into RUN/power.jsonl: a heading, samples on a
/// grid, idle windows with the model resident before and after, and a mark at every edge of a
/// block. Between blocks it looks for neighbours that came and for memory of the seat that moved.
/// What it can not write is a note and ends the measuring, never the run. The references must
/// outlive it.
class Meter : public BlockWatch {
 public:
  /// Null, with a note and `why_not`, where the log can not be opened; null without them where the
  /// seat has no boards that count.
  static std::unique_ptr<Meter> start(const Config& config, const RunBoards& boards,
                                      const SeatBoards& seat, const std::string& arms,
                                      Observer& observer, std::string& why_not);
  ~Meter() override;

  /// Reads the boards at rest for Config::power.idle_s; a stop ends it early. `before`: before
  /// anything is asked.
  void rest(bool before, const std::stop_token& stop);

  /// Ends the sampling. Why measuring broke off, "" where it did not.
  std::string finish();

  void begin_block(const Block& block) override;
  void end_block(const Block& block, const Asked& asked) override;

 private:
  Meter(const Config& config, const RunBoards& boards, const SeatBoards& seat, std::string arms,
        Observer& observer);
  void mark(record::PowerMark mark);
  void check(const Result<void>& written);
  board::Residency look() const;
  std::set<int> own_processes() const;
  void note_drift(double mono_s, const std::string& during);

  const Config& config_;
  const RunBoards& boards_;
  const SeatBoards& seat_;
  const std::string arms_;  // for the idle marks
  Observer& observer_;
  std::vector<std::string> ids_;
  std::unique_ptr<board::PowerLog> log_;
  std::unique_ptr<board::Sampler> sampler_;
  std::optional<board::Residency> residency_;
  std::string broken_;  // why; "" while it measures
};

/// "power.jsonl" in a run's folder.
std::string power_path(const std::string& folder);

}  // namespace deem::bench

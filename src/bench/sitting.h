#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "bench/config.h"
#include "bench/journal.h"
#include "bench/plan.h"
#include "bench/run.h"
#include "bench/setup.h"

namespace deem::bench {

/// Which row it is: arm, task, item, repeat, probe.
using RowKey = std::tuple<std::string, std::string, std::string, int, std::string>;
RowKey key_of(const record::Row& row);

/// What was asked in one block: rows that were answered, and the tokens of their prompts where the
/// seat told all.
struct Asked {
  std::int64_t rows = 0;
  std::optional<std::int64_t> prompt_tokens = {};
};

/// Who is told when a block begins and ends, on the thread that asks for ranges; no row of the
/// block is under way before the one or after the other.
class BlockWatch {
 public:
  virtual ~BlockWatch() = default;
  virtual void begin_block(const Block& block) = 0;
  virtual void end_block(const Block& block, const Asked& asked) = 0;
};

/// Everything the workers of one sitting share: asks units and writes their rows. The references
/// must outlive it.
class Sitting {
 public:
  Sitting(const Config& config, const kit::Kit& kit, const std::vector<Unit>& plan, Setup& setup,
          Journal& journal, Observer& observer, std::set<RowKey> done);

  /// Asks units [first, last), all on one seat. Errors: of the journal.
  Result<void> ask_range(std::size_t first, std::size_t last, const std::stop_token& stop);

  /// From now on ranges are asked block by block, and `watch` is told of each. None: as one.
  void watch_blocks(BlockWatch* watch) { watch_ = watch; }
  /// Whether an item of units [first, last) had no row when the sitting began; `pass`: of that
  /// pass of a sustained run, whose plain units alone are asked.
  bool has_work(std::size_t first, std::size_t last, int pass = 0) const;

  /// Asks the plain units of [first, last) pass after pass, until `until`: rows of the probe
  /// "sustained", one more `repeat` each pass. Ends early, with a note, after a pass that brought
  /// nothing but errors. Errors: of the journal.
  Result<void> go_on(std::size_t first, std::size_t last, TimePoint until,
                     const std::stop_token& stop);

  bool too_many_errors() const { return too_many_errors_; }
  bool halted() const { return halted_; }
  /// Whether every row of the plan is there.
  bool complete() const { return planned_done_ >= planned_; }
  const Progress& progress() const { return progress_; }
  std::size_t errors() const { return errors_; }
  std::size_t refused() const { return refused_; }
  double arm_seconds(std::size_t arm) const { return arm_seconds_[arm]; }
  /// Of the arm's first row, from its planned send; none without an answer in this sitting.
  std::optional<double> first_answer_s(std::size_t arm) const { return first_answer_s_[arm]; }

 private:
  struct Span {
    std::size_t first, last;
    TimePoint until;
    int pass;  // 0: the plan itself
  };
  /// A plan's unit as a pass asks it.
  Unit unit_of(std::size_t u, int pass) const;
  Result<void> ask_span(const Span& span, const std::stop_token& stop);
  /// Spans of blocks, one after the other, each told to the watch.
  Result<void> ask_blocks(const std::vector<Block>& blocks, TimePoint until, int pass,
                          const std::stop_token& stop);
  std::vector<Block> sustained_blocks(std::size_t first, std::size_t last) const;
  void ask_unit(const Unit& planned);
  std::vector<record::Row> ask_items(const Unit& unit);
  /// The row of an item that does not fit, or none when it does.
  std::optional<record::Row> refusal(const Unit& unit, std::size_t item) const;
  void keep(const record::Row& row, std::size_t arm);
  void add_to_block(const record::Row& row);  // with mutex_ held

  const Config& config_;
  const kit::Kit& kit_;
  const std::vector<Unit>& plan_;
  Setup& setup_;
  Journal& journal_;
  Observer& observer_;
  const std::set<RowKey> done_;
  const std::size_t planned_;
  const TimePoint started_ = Clock::now();
  BlockWatch* watch_ = nullptr;
  std::atomic<bool> halted_ = false;
  std::mutex mutex_;  // guards all below
  Progress progress_;
  std::optional<Error> error_;
  std::size_t planned_done_ = 0, errors_ = 0, refused_ = 0;
  std::size_t answered_now_ = 0;  // rows of this sitting without an error
  std::size_t skipped_ = 0;       // rows found there already
  Asked block_ = {};              // of the block under way
  bool too_many_errors_ = false, said_other_model_ = false;
  std::vector<double> arm_seconds_;
  std::vector<std::optional<double>> first_answer_s_;
};

}  // namespace deem::bench

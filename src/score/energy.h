#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/power.h"
#include "record/row.h"
#include "score/detail.h"
#include "score/resample.h"

namespace deem::score {

// Joules of a run from its power trace. Definitions and why: docs/measuring.md, "Energy".

struct EnergyOptions {
  double min_periods = 10;         // a window shorter than this many can not be resolved
  double max_gap_periods = 3;      // a hole in the readings longer than this is a gap
  double max_disagreement = 0.05;  // of the counter and the integral
  double counted_gap = 0.01;       // a gap is a note where the counter agrees so well
  double idle_drift_share = 0.10, idle_drift_w = 5;  // both passed: idle drifted
  double tolerated_share = 0.05;  // of a sum's time that may lie in blocks with a fault
  std::size_t least_blocks = 5;   // for an interval
  std::uint64_t seed = kScoreSeed;
};

/// Why a figure is not to be relied on, or (as a note) what to know about it. Codes:
/// docs/measuring.md, "Energy".
struct EnergyReason {
  std::string code = {};
  std::string text = {};
  bool net_only = false;  // the gross figure stands
};

struct BoardEnergy {
  std::string board = {};
  std::optional<double> gross_j = {}, counter_j = {};
  std::size_t samples = 0;
};

/// Figures of one block, or sums over blocks. What is not known is none: a sum with one unknown
/// part is unknown, never smaller.
struct EnergyFigures {
  std::string arm = {}, task = {}, probe = {};  // "" where summed over
  double begin_s = 0, end_s = 0;                // of a block or a load, on its steady clock
  std::size_t segment = 0;                      // of a block or a load
  std::size_t blocks = 0;
  double seconds = 0;          // of the windows
  std::int64_t decisions = 0;  // answered; a refused row is none
  std::optional<std::int64_t> prompt_tokens = {};
  std::optional<double> gross_j = {};        // trapezoids, summed over boards
  std::optional<double> counter_j = {};      // where all boards count
  std::optional<double> counter_ratio = {};  // counter ÷ trapezoid of the boards that have both
  std::optional<double> net_j = {};          // gross − idle watts × seconds
  std::optional<double> idle_before_w = {}, idle_after_w = {};  // means over the blocks' time
  std::optional<double> mean_w = {}, peak_w = {};               // of the sum of all boards
  std::optional<Interval> gross_per_decision_95 = {}, net_per_decision_95 = {};
  std::vector<BoardEnergy> boards = {};
  std::vector<EnergyReason> reasons = {};  // none: valid
  std::vector<EnergyReason> notes = {};    // of what does not make it invalid

  bool gross_valid() const;
  bool net_valid() const { return net_j.has_value() && reasons.empty(); }
  std::optional<double> gross_per_decision() const { return per(gross_j, decisions); }
  std::optional<double> net_per_decision() const { return per(net_j, decisions); }
  std::optional<double> gross_per_prompt_token() const { return per(gross_j, prompt_tokens); }
  std::optional<double> net_per_prompt_token() const { return per(net_j, prompt_tokens); }

 private:
  static std::optional<double> per(std::optional<double> joules, std::optional<std::int64_t> n) {
    return joules && n && *n > 0 ? std::optional(*joules / static_cast<double>(*n)) : std::nullopt;
  }
};

/// What a run tells of an arm's joules: "ok" or "not measured (why)"; and of its pin, where its
/// model was not found on the boards that were read: what was found.
struct ArmStatus {
  std::string arm = {}, status = {};
  std::string pin_finding = {};
  std::vector<std::string> boards = {};  // ids whose joules are the arm's; empty: not told
};

struct RunEnergy {
  std::string status = {};                 // "ok", or "not measured (why)"
  std::vector<EnergyFigures> blocks = {};  // in time's order
  std::vector<EnergyFigures> loads = {};   // of models; `arm` is what the mark names
  std::vector<EnergyFigures> tasks = {};   // of each arm, task and kind of probe
  std::vector<EnergyFigures> arms = {};    // plain blocks
  EnergyFigures all = {};                  // all blocks
  std::vector<ArmStatus> unmeasured = {};  // arms of the run that have no joules
  std::vector<std::string> notes = {};     // cut blocks, unreadable lines
  std::uint64_t seed = 0;                  // of the intervals
  bool measured() const { return status == "ok"; }
  /// None when the arm has no block.
  const EnergyFigures* arm(std::string_view name) const;
  /// Of an arm's plain blocks of one task; none when there is none.
  const EnergyFigures* task(std::string_view arm, std::string_view task) const;
};

/// Pure.
RunEnergy energy_of(const record::PowerFile& power, const EnergyOptions& options = {});

/// A run without a power file, or whose boards could not be read: `why` as the run tells it.
RunEnergy energy_not_measured(std::string_view why);

/// Holds joules against the run they are of: where an arm has none (by `arms`, what run.json tells
/// of each: "ok" or why not) or where blocks hold fewer decisions than `rows` answered, the sum
/// over the run is unknown, never smaller, and that is said. An arm's own figures are not valid
/// where over 5 % of its answered decisions lie in no block, where blocks hold more than were
/// answered, or where other boards were read than the run tells. Arms that took turns in one block
/// have joules together and none of their own. Where a model was not on the boards that were read,
/// their joules are not its own, and no figure of it is valid.
void hold_against_run(RunEnergy& energy, std::span<const ArmStatus> arms,
                      std::span<const record::Row> rows);

inline constexpr double kJoulesPerKwh = 3.6e6;

/// What 1,000 decisions cost at `per_kwh` (a price, or grams of CO2) for a kilowatt hour.
inline double per_thousand_decisions(double joules_per_decision, double per_kwh) {
  return joules_per_decision * 1000 / kJoulesPerKwh * per_kwh;
}

}  // namespace deem::score

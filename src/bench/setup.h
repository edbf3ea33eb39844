#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/census.h"
#include "bench/config.h"
#include "bench/diagnosis.h"
#include "bench/run.h"
#include "bench/run_boards.h"
#include "record/run.h"

namespace deem::bench {

/// Whether a seat that can not count prompts reads an arm's longest one whole (longest.h).
struct Longest {
  seat::ProbeResult probe = {};  // "longest"
  int requests = 0;
  /// Tokens that it cuts prompts to: one that is counted so long was longer. None: it does not cut
  /// what this arm asks, as far as can be told.
  std::optional<std::int64_t> cut_at = {};
};

/// One seat of a run, shared by the arms that name it.
struct OpenSeat {
  seat::SeatSpec spec;
  std::unique_ptr<seat::Seat> seat;
  seat::Identity identity;
  seat::Capabilities capabilities;
  double load_s = 0;   // making the seat: of a local one, loading its model
  double ready_s = 0;  // that, its identity (a local model's digest) and what it can
  std::optional<board::PinVerdict> pin = {};      // where boards were named for it
  std::optional<seat::Diagnosis> diagnosis = {};  // none: not asked for
  codec::Json process = {};                       // GPU runtimes, container image; null: not seen
  std::unique_ptr<PriorMemo> memo = std::make_unique<PriorMemo>();
};

/// One arm ready to ask.
struct ReadyArm {
  std::size_t seat = 0;  // index of its OpenSeat
  std::optional<seat::LetterProof> proof;
  std::string proof_note;  // why there is none
  CensusResult census;
  std::optional<Longest> longest;  // where there is no census
};

struct Setup {
  std::vector<OpenSeat> seats;
  std::vector<ReadyArm> arms;  // as Config::arms
  /// Why nothing more was asked of any seat: a required pin that is not proved. Then `arms` ends
  /// before its arm.
  std::optional<Outcome> refused;
};

/// Identity → pin → diagnosis → letter proof → census, for every arm. A stop ends it early, calls
/// in flight too: what it returns then is not to be used. Errors: Unavailable and others of the
/// seats, with the arm's name in front; BadInput when letters can not be told apart on a seat.
Result<Setup> set_up(const Config& config, const kit::Kit& kit, const std::vector<Unit>& plan,
                     const RunBoards& boards, const SeatFactory& make_seat, Observer& observer,
                     std::stop_token stop);

/// run.json as it stands before the first row.
record::RunRecord make_run_record(const Config& config, const kit::Kit& kit,
                                  const RunBoards& boards, const Setup& setup,
                                  std::size_t planned_rows);

/// Whether `found` is the same run as `wanted`: kit, settings, arms and what the seats are.
/// Errors: BadInput naming the first difference with both values.
Result<void> check_same_run(const record::RunRecord& found, const record::RunRecord& wanted);

/// Minutes earlier runs of these arms on this kit took, from run folders beside `folder`.
std::optional<double> expected_minutes(const std::string& folder, const record::RunRecord& run);

}  // namespace deem::bench

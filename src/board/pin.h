#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codec/json.h"

namespace deem::board {

/// Memory in use on one board at one moment; none: not told.
struct BoardMemory {
  std::string id = {};
  std::optional<double> used_mib = {};
};

/// What one process holds on one board; none: the driver does not tell how much.
struct Owned {
  std::string board = {};
  int pid = 0;
  std::optional<double> mib = {};
};

/// What a server says of itself; MiB.
struct Claim {
  std::optional<double> total_mib = {}, vram_mib = {};
  std::string text = {};  // its own words, for people: "/api/ps: size 4.1 GiB, size_vram 4.1 GiB"
};

/// Less than this on a board is a context or a driver's own, not a model (MiB).
inline constexpr double kPinFloorMib = 200;

/// What a pin is decided on. Residency is by growth where the memory was read before the load, else
/// by the processes that own it.
struct PinEvidence {
  std::vector<std::string> named = {};   // ids the model must be on, all of them
  std::vector<BoardMemory> before = {};  // every board, before we loaded it; empty: not ours
  std::vector<BoardMemory> after = {};   // every board, now
  std::optional<std::vector<Owned>> owned = {};  // on every board; none: not told
  std::set<int> pids = {};                       // the seat's own tree of processes
  std::string no_pids = {};                      // why `pids` is empty
  Claim claim = {};
  double floor_mib = kPinFloorMib;
};

struct PinVerdict {
  enum class State { Ok, Finding, NotMeasured };
  struct Board {
    std::string id = {};
    bool named = false;
    std::optional<double> before_mib = {}, after_mib = {}, growth_mib = {};
    std::optional<double> owned_mib = {};   // by the seat's processes
    std::optional<double> others_mib = {};  // by other processes
  };
  State state = State::NotMeasured;
  std::string method = {};  // "growth", "processes"
  std::vector<Board> boards = {};
  std::vector<std::string> findings = {};  // what is wrong; NotMeasured: what was missing
  std::vector<std::string> notes = {};     // neighbours on a named board
  Claim claim = {};
};

/// Whether the model is on every named board and on no other. A board that can not be read makes
/// it not measured, never ok. A claim that differs from what was seen (by over 512 MiB and a
/// fifth, or memory claimed where none is seen) is a finding, with both numbers. Pure.
PinVerdict check_pin(const PinEvidence& evidence);

/// {"status": "ok" | "finding" | "not measured", "method", "boards", "findings", "notes", "claim"}.
codec::Json to_json(const PinVerdict& verdict);

/// "ok (growth: GPU-… +22296 MiB, no other grew)", "finding: …", "not measured (…)".
std::string describe(const PinVerdict& verdict);

}  // namespace deem::board

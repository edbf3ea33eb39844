#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/config.h"
#include "board/board.h"
#include "board/pin.h"
#include "seat/seat.h"

namespace deem::bench {

/// What the boards of this box have to do with one seat.
struct SeatBoards {
  seat::SeatSpec spec = {};
  std::vector<board::BoardInfo> counted = {};  // whose energy is the seat's; empty: see why_not
  std::string why_not = {};                    // "no board", "the seat is on another machine"
  std::vector<std::string> named = {};         // ids its model must be on; empty: none were named
};

/// The boards of this box as one run uses them.
struct RunBoards {
  std::unique_ptr<board::Boards> boards = nullptr;  // null: they could not be opened
  board::Inventory inventory = {};                  // before any seat was opened
  std::vector<SeatBoards> seats = {};               // each seat once, in the arms' order

  const SeatBoards& of(const seat::SeatSpec& spec) const;
  /// Whether the energy of any seat is measured.
  bool measured() const;
  /// What the checks of counted boards and of the whole box found; none where none counts.
  std::vector<std::string> findings() const;
  /// What run.json keeps: id, name, caps and driver of each board; null where there is none.
  codec::Json receipt() const;
  /// {"status", "period_s", "idle_s", "arms"} (docs/formats/run.md).
  codec::Json energy(const Config& config) const;
};

/// Looks for the boards and decides which count for each seat. Those that its arms name; else for a
/// local seat without GPU layers the CPU's, and for another seat on this machine every accelerator,
/// or the CPU's where there is none. Errors: BadInput for a named board that is not there.
Result<RunBoards> open_run_boards(const Config& config, const board::BoardOptions& options);

/// What is needed to tell where a seat's model sits, as it was before the seat was opened.
struct BeforeLoad {
  std::vector<board::BoardMemory> memory = {};  // empty for a server: it was there before
};
BeforeLoad before_load(const RunBoards& boards, const seat::SeatSpec& spec);

/// What the server says of where its model lies; empty where it does not.
board::Claim claim_of(seat::Seat& seat);

/// Whether the seat's model sits on the boards named for it; none where none were.
std::optional<board::PinVerdict> prove_pin(const RunBoards& boards, const SeatBoards& of,
                                           BeforeLoad before, seat::Seat& seat);

}  // namespace deem::bench

#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "board/board.h"

namespace deem::board {

/// Who holds memory on the accelerators of a box at one moment.
struct Residency {
  struct Board {
    std::string id = {};
    std::optional<double> used_mib = {};
    std::map<int, std::optional<double>> processes = {};  // MiB of each, by PID; none: not told
  };
  std::vector<Board> boards = {};
  bool told = false;  // which processes are on them
};

/// Pure. `told`: whether the source says which processes are on a board.
Residency residency_of(std::span<const BoardInfo> boards, std::span<const BoardProcess> processes,
                       bool told);

/// What changed on one board meanwhile.
struct Drift {
  std::string board = {};
  bool neighbour = false;  // another's doing, on a board whose energy counts
  std::string says = {};
};

/// A smaller change is a context's or a driver's own (MiB).
inline constexpr double kDriftFloorMib = 200;

/// A neighbour that came or grew on a counted board, and the seat's own memory that grew (another
/// model, a cache) or went, on any. `own`: the seat's processes; empty: not known, and then only
/// the memory in use on counted boards is compared. Pure.
std::vector<Drift> drift_between(const Residency& then, const Residency& now,
                                 const std::set<int>& own, std::span<const std::string> counted);

}  // namespace deem::board

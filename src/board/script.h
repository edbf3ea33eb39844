#pragma once

// Private to board: boards as a script tells them (docs/formats/boards-script.md).

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "board/board.h"
#include "board/wave.h"

namespace deem::board {

/// Seconds of the script's time, `until_s` excluded.
struct ScriptSpan {
  double from_s = 0, until_s = 1e300;
  bool holds(double t) const { return t >= from_s && t < until_s; }
};

struct ScriptedProcess {
  BoardProcess process;
  ScriptSpan span;
};

struct ScriptedBoard {
  BoardInfo info;
  std::optional<Wave> power_w, memory_mib;
  bool counter = false;
  double counter_start_j = 0;
  std::vector<double> resets_s;  // ascending: the counter begins at 0 again
  std::vector<ScriptSpan> lost;
  std::vector<ScriptedProcess> processes;

  bool is_lost(double t_s) const;
  /// Requires t_s ≥ 0; absent without a counter.
  std::optional<double> energy_j(double t_s) const;
};

/// Errors: Corrupt with what is wrong where ("boards[1].power_w is no number"); a member that is
/// not known is wrong.
Result<std::vector<ScriptedBoard>> parse_boards_script(std::string_view json);

}  // namespace deem::board

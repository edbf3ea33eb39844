#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "board/board.h"
#include "record/power.h"

namespace deem::board {

/// Where a sampler stands on its grid: point n is due n periods after the first.
struct Grid {
  double begin_s = 0, period_s = 0;
  std::uint64_t next = 0;  // the point to read next

  double due_s() const { return begin_s + static_cast<double>(next) * period_s; }
  /// After point `next` was read: moves on to the first point that lies after `now_s`; returns how
  /// many were passed over.
  std::uint64_t advance(double now_s);
};

/// Sees in a series of readings what breaks it. Pure: no clock, no boards.
///
/// A counter that went back was set to zero: by the driver's reload (driver_reload) when every
/// board of its source that has one went back at the same tick, else by that board's own reset
/// (counter_reset). A board is lost when it can not be read at all (board_lost), and back when it
/// can (board_back); what its counter did meanwhile is seen then. Another number of computing
/// processes is told (process), with the new number.
class Watch {
 public:
  explicit Watch(std::span<const BoardInfo> boards);
  /// The events of one tick, in the boards' order.
  std::vector<record::PowerEvent> see(const Readings& readings, double mono_s);

 private:
  struct Seen {
    std::string id, source;
    std::optional<double> energy_j;  // the last that was told, as the next
    std::optional<std::int64_t> processes;
    bool lost = false;
  };
  std::vector<Seen> boards_;
};

}  // namespace deem::board

#include "board/watch.h"

#include <algorithm>
#include <cmath>

namespace deem::board {

std::uint64_t Grid::advance(double now_s) {
  const std::uint64_t read = next++;
  if (now_s > begin_s) {
    const auto passed = static_cast<std::uint64_t>(std::floor((now_s - begin_s) / period_s));
    next = std::max(next, passed);
  }
  while (due_s() <= now_s) ++next;
  return next - read - 1;
}

Watch::Watch(std::span<const BoardInfo> boards) {
  for (const BoardInfo& board : boards) boards_.push_back({board.id, board.source, {}, {}, false});
}

std::vector<record::PowerEvent> Watch::see(const Readings& readings, double mono_s) {
  std::vector<record::PowerEvent> out;
  const auto went_back = [&](std::size_t i) {
    const auto& now = readings.boards[i].energy_j;
    return now && boards_[i].energy_j && *now < *boards_[i].energy_j;
  };
  // A processor's counters have no driver that is loaded again.
  const auto reloaded = [&](const std::string& source) {
    if (source == "rapl") return false;
    for (std::size_t i = 0; i < boards_.size(); ++i) {
      const bool comparable = readings.boards[i].energy_j && boards_[i].energy_j;
      if (boards_[i].source == source && comparable && !went_back(i)) return false;
    }
    return true;
  };
  for (std::size_t i = 0; i < boards_.size(); ++i) {
    const Seen& seen = boards_[i];
    const auto tell = [&](std::string what, std::int64_t count, std::string detail) {
      out.push_back({std::move(what), seen.id, mono_s, count, std::move(detail)});
    };
    const bool lost = !readings.errors[i].empty();
    if (lost && !seen.lost) tell("board_lost", 0, readings.errors[i]);
    if (!lost && seen.lost) tell("board_back", 0, "");
    if (went_back(i)) tell(reloaded(seen.source) ? "driver_reload" : "counter_reset", 0, "");
    const auto& processes = readings.boards[i].processes;
    if (processes && seen.processes && *processes != *seen.processes) {
      tell("process", *processes, "before: " + std::to_string(*seen.processes));
    }
  }
  for (std::size_t i = 0; i < boards_.size(); ++i) {
    const record::PowerReading& reading = readings.boards[i];
    if (reading.energy_j) boards_[i].energy_j = reading.energy_j;
    if (reading.processes) boards_[i].processes = reading.processes;
    boards_[i].lost = !readings.errors[i].empty();
  }
  return out;
}

}  // namespace deem::board

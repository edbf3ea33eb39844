#include "board/residency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace deem::board {
namespace {

std::string change_of(double mib) {
  return fmt::format("{} by {:.0f} MiB", mib < 0 ? "fell" : "grew", std::abs(mib));
}

bool counts(double mib) { return std::abs(mib) >= kDriftFloorMib; }

/// What the seat's processes hold together; one that does not tell makes it unknown.
std::optional<double> held_by(const Residency::Board& board, const std::set<int>& own) {
  double sum = 0;
  for (const auto& [pid, mib] : board.processes) {
    if (!own.contains(pid)) continue;
    if (!mib) return std::nullopt;
    sum += *mib;
  }
  return sum;
}

void compare_neighbours(const Residency::Board& then, const Residency::Board& now,
                        const std::set<int>& own, std::vector<Drift>& out) {
  for (const auto& [pid, mib] : now.processes) {
    if (own.contains(pid)) continue;
    const auto before = then.processes.find(pid);
    if (before == then.processes.end()) {
      if (mib && !counts(*mib)) continue;
      out.push_back(
          {now.id, true,
           fmt::format("process {} came and holds {}", pid,
                       mib ? fmt::format("{:.0f} MiB", *mib) : "memory, not told how much")});
    } else if (mib && before->second && *mib - *before->second >= kDriftFloorMib) {
      out.push_back(
          {now.id, true, fmt::format("process {} {}", pid, change_of(*mib - *before->second))});
    }
  }
}

}  // namespace

Residency residency_of(std::span<const BoardInfo> boards, std::span<const BoardProcess> processes,
                       bool told) {
  Residency out{.told = told};
  for (const BoardInfo& board : boards) {
    if (is_cpu(board)) continue;
    Residency::Board one{.id = board.id, .used_mib = board.memory_used_mib};
    for (const BoardProcess& process : processes) {
      if (process.board != board.id) continue;
      // One process may be listed once for each kind of work, with the same memory.
      auto& held = one.processes[static_cast<int>(process.pid)];
      if (process.used_mib) held = std::max(held.value_or(0), *process.used_mib);
    }
    out.boards.push_back(std::move(one));
  }
  return out;
}

std::vector<Drift> drift_between(const Residency& then, const Residency& now,
                                 const std::set<int>& own, std::span<const std::string> counted) {
  std::vector<Drift> out;
  const bool by_process = then.told && now.told && !own.empty();
  for (const Residency::Board& board : now.boards) {
    const auto before = std::ranges::find(then.boards, board.id, &Residency::Board::id);
    if (before == then.boards.end()) continue;
    const bool is_counted = std::ranges::find(counted, board.id) != counted.end();
    if (by_process) {
      if (is_counted) compare_neighbours(*before, board, own, out);
      const auto was = held_by(*before, own), is = held_by(board, own);
      if (was && is && counts(*is - *was)) {
        out.push_back({board.id, false, "the seat's own memory " + change_of(*is - *was)});
      }
    } else if (is_counted && before->used_mib && board.used_mib &&
               counts(*board.used_mib - *before->used_mib)) {
      out.push_back({board.id, false,
                     "memory in use " + change_of(*board.used_mib - *before->used_mib) +
                         ", by whom is not told"});
    }
  }
  return out;
}

}  // namespace deem::board

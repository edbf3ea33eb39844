#include "board/pin_seat.h"

#include <unistd.h>

#include <algorithm>

#include "board/serving.h"

namespace deem::board {
std::vector<BoardMemory> memory_of(const std::vector<BoardInfo>& boards) {
  std::vector<BoardMemory> out;
  for (const BoardInfo& board : boards) {
    if (!is_cpu(board)) out.push_back({board.id, board.memory_used_mib});
  }
  return out;
}

void read_after(Boards& boards, const std::string& address, PinEvidence& evidence,
                const std::string& proc) {
  const Inventory now = boards.inventory();
  evidence.after = memory_of(now.boards);
  // A source that can not tell what processes hold says so by this check; none told means nothing.
  const bool told = std::ranges::none_of(now.checks, [](const Check& check) {
    return check.name == "memory" && check.verdict == Check::Verdict::NotMeasured;
  });
  if (told) {
    evidence.owned.emplace();
    for (const BoardProcess& process : now.processes) {
      evidence.owned->push_back({process.board, static_cast<int>(process.pid), process.used_mib});
    }
  }
  if (address.empty()) {
    evidence.pids = {static_cast<int>(::getpid())};
    return;
  }
  const Result<Serving> serving = serving_processes(address, proc);
  if (serving) {
    evidence.pids = serving->pids;
  } else {
    evidence.no_pids = serving.error().message;
  }
}

Result<double> held_by_seat(Boards& boards, const std::string& address) {
  PinEvidence evidence;
  read_after(boards, address, evidence);
  const auto unknown = [](std::string why) {
    return fail(Error::Code::Unsupported, std::move(why));
  };
  if (evidence.after.empty()) return unknown("no board can be read here");
  if (evidence.pids.empty()) return unknown("its processes are not known: " + evidence.no_pids);
  if (!evidence.owned) return unknown("the driver does not tell what processes hold");
  double mib = 0;
  for (const Owned& one : *evidence.owned) {
    if (!evidence.pids.contains(one.pid)) continue;
    if (!one.mib) return unknown("the driver does not tell what its processes hold");
    mib += *one.mib;
  }
  return mib;
}

}  // namespace deem::board

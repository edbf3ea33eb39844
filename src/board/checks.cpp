#include "board/checks.h"

#include <fmt/format.h>

namespace deem::board {

std::optional<double> unexplained_mib(const BoardInfo& board,
                                      std::span<const BoardProcess> processes) {
  if (!board.memory_used_mib) return std::nullopt;
  double held = 0;
  for (const BoardProcess& process : processes) {
    if (process.board != board.id) continue;
    if (!process.used_mib) return std::nullopt;
    held += *process.used_mib;
  }
  return *board.memory_used_mib - held;
}

Check check_memory(const BoardInfo& board, std::span<const BoardProcess> processes) {
  Check out{
      .name = "memory", .board = board.id, .verdict = Check::Verdict::NotMeasured, .says = ""};
  if (!board.memory_used_mib) {
    out.says = "its memory in use is not told";
    return out;
  }
  const auto missing = unexplained_mib(board, processes);
  if (!missing) {
    out.says = "what its processes hold is not told";
    return out;
  }
  out.says = fmt::format("{:.0f} MiB in use, {:.0f} of them by no listed process",
                         *board.memory_used_mib, *missing);
  if (*missing <= kUnexplainedMib) {
    out.verdict = Check::Verdict::Ok;
  } else if (board.memory_reserved_mib ||
             (board.source != "nvml" && board.source != "nvidia-smi")) {
    out.verdict = Check::Verdict::Finding;
    out.says += ": another process namespace, a dead context, or MPS";
  } else {
    out.says += ", what this driver reserves included";
  }
  return out;
}

Check check_power(const BoardInfo& board) {
  constexpr std::uint64_t kSlowdown = 0x8, kHeat = 0x40, kBrake = 0x80;
  Check out{.name = "power", .board = board.id, .verdict = Check::Verdict::Ok, .says = ""};
  if (!board.clock_reasons) {
    out.verdict = Check::Verdict::NotMeasured;
    out.says = "why its clocks are what they are is not told";
    return out;
  }
  const std::uint64_t bits = *board.clock_reasons;
  if ((bits & (kSlowdown | kHeat | kBrake)) == 0) {
    out.says = fmt::format("no slowdown by hardware (reasons {:#x})", bits);
    return out;
  }
  out.verdict = Check::Verdict::Finding;
  std::string why;
  if ((bits & kBrake) != 0) why += "power brake: an alarm of the power supply or its feed; ";
  if ((bits & kHeat) != 0) why += "too hot; ";
  if ((bits & kSlowdown) != 0) why += "slowed down by hardware; ";
  out.says = fmt::format("{}(reasons {:#x})", why.replace(why.size() - 2, 2, " "), bits);
  return out;
}

std::optional<Check> check_limit(const BoardInfo& board) {
  if (!board.limit_requested_w || !board.limit_enforced_w) return std::nullopt;
  const double set = *board.limit_requested_w, enforced = *board.limit_enforced_w;
  Check out{.name = "limit", .board = board.id, .verdict = Check::Verdict::Ok, .says = ""};
  out.says = fmt::format("{:g} W were set, {:g} W are in force", set, enforced);
  if (enforced < set - 1) {
    out.verdict = Check::Verdict::Finding;
    out.says += ": another limiter holds it lower";
  }
  return out;
}

Check check_count(std::string_view maker, std::size_t by_driver, std::size_t on_bus) {
  Check out{.name = "count", .board = "", .verdict = Check::Verdict::Ok, .says = ""};
  out.says = fmt::format("{}: the driver tells {}, the bus has {}", maker, by_driver, on_bus);
  if (by_driver == on_bus) return out;
  out.verdict = Check::Verdict::Finding;
  out.says += by_driver < on_bus ? "; some have failed, or are kept from this user or container"
                                 : "; the bus does not show all (a virtual machine or container)";
  return out;
}

}  // namespace deem::board

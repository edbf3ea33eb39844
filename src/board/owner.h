#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "board/board.h"

namespace deem::board {

/// To whom a process belongs, by the path of its control group.
struct Owner {
  std::string container;  // 64 hex digits, or a name where the runtime gives one; "" outside one
  std::string unit;       // "llama.service", "session-3.scope"; "" without one
  std::string note;       // why neither is known
};

/// /proc/PID/cgroup's text. Lines are id:controllers:path, the path may hold colons. Of several
/// lines the unified one counts, unless its path is "/"; then systemd's own, then the longest. Read
/// from the right: the innermost container, then the innermost service.
Owner parse_cgroup(std::string_view text);

/// Sets command and owner of a process by PROC/PID/{comm,cgroup}. What is there already stays.
void find_owner(const std::string& proc, BoardProcess& process);

}  // namespace deem::board

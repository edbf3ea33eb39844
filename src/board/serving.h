#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deem::board {

/// Whether a seat's address (http(s)://host:port…, unix:/path) is of this machine.
bool is_on_this_machine(std::string_view address);

/// Who serves an address on this machine.
struct Serving {
  std::string what = {};    // "port 8000", "socket /run/x.sock"
  std::set<int> pids = {};  // those that listen, and all that descend from them
};

/// Errors, each with the reason alone: Unsupported (another machine), NotFound (nothing listens: a
/// port published from a network of its own is not seen), Unavailable (its owner can not be read).
/// `proc`: a folder that stands for /proc, for tests.
Result<Serving> serving_processes(std::string_view address, const std::string& proc = "/proc");

}  // namespace deem::board

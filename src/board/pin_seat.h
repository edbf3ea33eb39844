#pragma once

#include <string>
#include <vector>

#include "board/board.h"
#include "board/pin.h"

namespace deem::board {

/// Memory in use on every accelerator of a list; CPU packages hold none.
std::vector<BoardMemory> memory_of(const std::vector<BoardInfo>& boards);

/// Reads what a pin is decided on after the load: memory and processes of every accelerator, and
/// the seat's own processes: this one's for `address` "", else those that serve that address.
void read_after(Boards& boards, const std::string& address, PinEvidence& evidence,
                const std::string& proc = "/proc");

/// MiB that the processes serving `address` ("": this one) hold on accelerators. Errors:
/// Unsupported with why that is not known.
Result<double> held_by_seat(Boards& boards, const std::string& address);

}  // namespace deem::board

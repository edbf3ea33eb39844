#pragma once

// What the figures of an inventory say against each other. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "board/board.h"

namespace deem::board {

/// A board's memory in use less what its processes hold, in MiB; absent when either is not told.
std::optional<double> unexplained_mib(const BoardInfo& board,
                                      std::span<const BoardProcess> processes);

/// Memory that no listed process explains: another process namespace, a dead context, MPS. A
/// finding over kUnexplainedMib: a driver's own contexts take some tens.
constexpr double kUnexplainedMib = 256;
Check check_memory(const BoardInfo& board, std::span<const BoardProcess> processes);

/// Whether hardware holds the clocks down now: 0x8 hardware slowdown, 0x40 heat, 0x80 the power
/// brake, which is an alarm of the power supply or its feed. Not measured where the bits are not
/// told.
Check check_power(const BoardInfo& board);

/// The limit that was set against the one in force: lower by over a watt, another limiter holds the
/// board. None where either is not told.
std::optional<Check> check_limit(const BoardInfo& board);

/// Boards of one maker that its driver tells against those on the bus.
Check check_count(std::string_view maker, std::size_t by_driver, std::size_t on_bus);

}  // namespace deem::board

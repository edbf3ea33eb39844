#pragma once

// Private to board: what is asked of one device. Absent: not told.

#include <vector>

#include "board/board.h"
#include "board/nvml_api.h"

namespace deem::board::nvml {

/// All that does not change while a process watches, and what does, of one board. Its `error` is
/// set when the board is gone.
BoardInfo describe(const Functions& f, Device device);

/// `error` as in Readings.
record::PowerReading read(const Functions& f, Device device, std::string& error);

/// A MIG instance's device and what is known of it.
struct InstanceDevice {
  Device device = nullptr;
  Instance instance;
};
std::vector<InstanceDevice> instances(const Functions& f, Device device);

/// The processes of one list. The list may grow between asking for its length and for itself: the
/// room is 2n+5 entries, and it is asked again a few times. Gives NVML's code.
int list_processes(GetProcesses function, std::size_t entry_bytes, Device device,
                   std::vector<Process>& out);

/// How many a list holds, without reading it; absent when not told.
std::optional<std::int64_t> count_processes(GetProcesses function, Device device);

}  // namespace deem::board::nvml

#pragma once

// Private to board: how each kind of source is opened.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "board/board.h"

namespace deem::board {

/// NVML by `library` ("libnvidia-ml.so.1" when empty).
/// Errors: NotFound when there is no such library, Unavailable when it is there and can not begin
/// (driver not loaded, versions that differ, no permission), Unsupported for another library.
Result<std::unique_ptr<Source>> open_nvml(const std::string& library);

/// nvidia-smi, each reading a run of the program, which is killed after `patience`: without
/// persistence it loads the driver first. Errors: NotFound without the program, Timeout,
/// Unavailable with what it said.
Result<std::unique_ptr<Source>> open_smi(const std::string& program,
                                         Seconds patience = Seconds(20));

/// AMD's boards below SYSFS/bus/pci/devices, their processes by PROC/PID/fdinfo; null without one.
std::unique_ptr<Source> open_amdgpu(const std::string& sysfs, const std::string& proc);

/// The counters below SYSFS/class/powercap; null without one.
std::unique_ptr<Source> open_rapl(const std::string& sysfs);

/// Boards of a script (docs/formats/boards-script.md). `now_s` counts from the script's time 0.
/// Errors: Corrupt with what is wrong where.
Result<std::unique_ptr<Source>> open_scripted(std::string_view json, std::function<double()> now_s);

}  // namespace deem::board

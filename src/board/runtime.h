#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace deem::board {

/// A GPU runtime library that a process has mapped.
struct RuntimeLibrary {
  std::string name = {};     // "libcudart", "libcuda", "libamdhip64" …
  std::string version = {};  // of the file's name: "12.8.90"; "" where it bears none
  auto operator<=>(const RuntimeLibrary&) const = default;
};

/// GPU runtimes mapped by the processes, from /proc/PID/maps; each once, sorted. Processes whose
/// maps can not be read give none. `proc`: a folder that stands for /proc, for tests.
std::vector<RuntimeLibrary> runtime_libraries(const std::set<int>& pids,
                                              const std::string& proc = "/proc");

/// Whether the runtime is newer than the driver allows. `driver_cuda`: what the driver says it
/// supports ("12.4"); `driver`: its own version ("550.54.14"). A finding in words, or none: a
/// cudart whose version is above the driver's, or a libcuda that is not the driver's.
std::optional<std::string> check_runtime(const std::vector<RuntimeLibrary>& libraries,
                                         const std::optional<std::string>& driver_cuda,
                                         const std::optional<std::string>& driver);

}  // namespace deem::board

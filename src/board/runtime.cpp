#include "board/runtime.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace deem::board {
namespace {

constexpr std::array<std::string_view, 6> kRuntimes = {
    "libcudart", "libcuda", "libnvidia-ml", "libamdhip64", "librocm_smi64", "libze_loader"};

/// "libcudart.so.12.8.90", "libcudart-1a2b3c4d.so.12.8" (as Python wheels carry it).
std::optional<RuntimeLibrary> parse_library(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  const std::size_t so = file.find(".so");
  if (so == std::string_view::npos) return std::nullopt;
  std::string_view stem = file.substr(0, so);
  const auto known = std::ranges::find_if(kRuntimes, [&](std::string_view name) {
    return stem == name ||
           (name == "libcudart" && stem.starts_with(name) && stem.substr(name.size())[0] == '-');
  });
  if (known == kRuntimes.end()) return std::nullopt;
  std::string_view version = file.substr(so + 3);
  if (version.starts_with('.')) version.remove_prefix(1);
  return RuntimeLibrary{std::string(*known), std::string(version)};
}

/// Major and minor of "12.8.90"; none where it does not begin with two numbers.
std::optional<std::pair<int, int>> major_minor(std::string_view version) {
  const std::vector<std::string_view> parts = split(version, '.');
  if (parts.size() < 2) return std::nullopt;
  std::pair<int, int> out;
  for (const auto& [text, value] : {std::pair(parts[0], &out.first), {parts[1], &out.second}}) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), *value);
    if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  }
  return out;
}

}  // namespace

std::vector<RuntimeLibrary> runtime_libraries(const std::set<int>& pids, const std::string& proc) {
  std::set<RuntimeLibrary> out;
  for (const int pid : pids) {
    const auto maps = read_file(join_path(proc, std::to_string(pid) + "/maps"));
    if (!maps) continue;
    std::istringstream lines(*maps);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t slash = line.find('/');
      if (slash == std::string::npos) continue;
      std::string_view path = std::string_view(line).substr(slash);
      if (path.ends_with(" (deleted)")) path.remove_suffix(10);
      if (auto library = parse_library(path)) out.insert(std::move(*library));
    }
  }
  return {out.begin(), out.end()};
}

std::optional<std::string> check_runtime(const std::vector<RuntimeLibrary>& libraries,
                                         const std::optional<std::string>& driver_cuda,
                                         const std::optional<std::string>& driver) {
  for (const RuntimeLibrary& library : libraries) {
    if (library.name == "libcudart" && driver_cuda) {
      const auto runtime = major_minor(library.version), most = major_minor(*driver_cuda);
      if (runtime && most && *runtime > *most) {
        return "CUDA runtime " + library.version + " is newer than the driver's CUDA " +
               *driver_cuda +
               (runtime->first == most->first
                    ? ": it runs by minor-version compatibility, without what needs the newer one"
                    : ": it needs a newer driver, or a forward-compatibility package");
      }
    }
    if (library.name == "libcuda" && driver && major_minor(library.version) &&
        library.version != *driver) {
      return "libcuda " + library.version + " is mapped, the driver is " + *driver +
             ": a forward-compatibility package, or a library left from another driver";
    }
  }
  return std::nullopt;
}

}  // namespace deem::board

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/file.h"
#include "board/sources.h"
#include "board/sysfs.h"

namespace deem::board {
namespace {

constexpr double kMicro = 1e-6;

/// A counter of the processor (kernel: power/powercap). It wraps every few minutes to hours.
struct Zone {
  std::string id, name, folder;
  std::optional<double> range_j;  // where it wraps
  std::optional<double> raw_j;    // as last read
  double wrapped_j = 0;           // what its wraps have carried
};

class RaplSource : public Source {
 public:
  explicit RaplSource(std::vector<Zone> zones) : zones_(std::move(zones)) {}

  std::string_view kind() const override { return "rapl"; }

  std::vector<BoardInfo> list() override {
    const std::scoped_lock lock(mutex_);
    std::vector<BoardInfo> out;
    for (Zone& zone : zones_) {
      BoardInfo info;
      info.id = zone.id;
      info.name = zone.name;
      info.source = "rapl";
      info.limit_enforced_w = read_number(zone.folder + "/constraint_0_power_limit_uw", kMicro);
      info.limit_max_w = read_number(zone.folder + "/constraint_0_max_power_uw", kMicro);
      energy_of(zone, info.error);
      info.has_counter = info.error.empty();
      info.reading_period_s = 0.001;  // Intel's manual, volume 3, "RAPL interfaces"
      out.push_back(std::move(info));
    }
    return out;
  }

  Readings read(std::span<const std::string> ids) override {
    const std::scoped_lock lock(mutex_);
    Readings out;
    for (const std::string& id : ids) {
      record::PowerReading reading;
      std::string error = "rapl knows no such counter";
      const auto zone = std::ranges::find(zones_, id, &Zone::id);
      if (zone != zones_.end()) {
        error.clear();
        reading.energy_j = energy_of(*zone, error);
      }
      out.boards.push_back(reading);
      out.errors.push_back(std::move(error));
    }
    return out;
  }

  std::vector<BoardProcess> processes(std::span<const std::string>) override { return {}; }

  std::vector<Check> checks() override {
    const std::scoped_lock lock(mutex_);
    std::vector<Check> out;
    for (Zone& zone : zones_) {
      std::string error;
      energy_of(zone, error);
      if (!error.empty()) {
        out.push_back({"permission", zone.id, Check::Verdict::NotMeasured, std::move(error)});
      }
    }
    if (out.empty()) {
      out.push_back({"driver", "", Check::Verdict::Ok,
                     fmt::format("powercap, {} counters of the processor", zones_.size())});
    }
    return out;
  }

 private:
  /// Joules since the source was opened plus what the counter held then: it never goes back by a
  /// wrap, if it is read once a wrap at least.
  static std::optional<double> energy_of(Zone& zone, std::string& error) {
    const std::string path = zone.folder + "/energy_uj";
    const Result<std::string> text = read_file(path, 4096);
    if (!text) {
      error = text.error().message.ends_with("permission denied")
                  ? "energy_uj is readable by root only (" + path + ")"
                  : text.error().message;
      return std::nullopt;
    }
    const auto raw = parse_number(*text, kMicro);
    if (!raw) {
      error = path + ": no number";
      return std::nullopt;
    }
    if (zone.raw_j && *raw < *zone.raw_j && zone.range_j) zone.wrapped_j += *zone.range_j;
    zone.raw_j = raw;
    return *raw + zone.wrapped_j;
  }

  std::mutex mutex_;  // guards all below
  std::vector<Zone> zones_;
};

/// "intel-rapl:0" → "0", "intel-rapl:0:1" → "0:1"; "" for anything else (the same counters again
/// as intel-rapl-mmio).
std::string_view place_of(std::string_view name) {
  constexpr std::string_view kPrefix = "intel-rapl:";
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : "";
}

/// The number of the package that a zone lies in: "1" of package-1, whose zone may be intel-rapl:0.
std::string package_above(const std::string& folder, std::string_view place) {
  const std::string zone(place.substr(0, place.find(':')));
  constexpr std::string_view kPackage = "package-";
  const std::string name =
      read_text(join_path(folder, "intel-rapl:" + zone + "/name")).value_or("");
  return name.starts_with(kPackage) ? name.substr(kPackage.size()) : zone;
}

}  // namespace

std::unique_ptr<Source> open_rapl(const std::string& sysfs) {
  const std::string folder = join_path(sysfs, "class/powercap");
  std::vector<Zone> zones;
  for (const std::string& name : list_folder(folder).value_or(std::vector<std::string>{})) {
    const std::string_view place = place_of(name);
    const std::string path = join_path(folder, name);
    const std::string kind = read_text(path + "/name").value_or("");
    // Cores and graphics lie inside a package, psys around it: adding them counts twice.
    const bool package = kind.starts_with("package-"), memory = kind == "dram";
    if (place.empty() || (!package && !memory)) continue;
    Zone zone;
    zone.id = package ? "rapl:" + kind : "rapl:dram-" + package_above(folder, place);
    zone.name = package ? "processor " + kind
                        : "memory of processor package-" + package_above(folder, place);
    zone.folder = path;
    zone.range_j = read_number(path + "/max_energy_range_uj", kMicro);
    zones.push_back(std::move(zone));
  }
  if (zones.empty()) return nullptr;
  return std::make_unique<RaplSource>(std::move(zones));
}

}  // namespace deem::board

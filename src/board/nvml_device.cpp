#include <fmt/format.h>

#include <array>
#include <cstring>

#include "board/nvml.h"

namespace deem::board::nvml {
namespace {

constexpr double kMib = 1024.0 * 1024.0;
constexpr unsigned kSm = 1, kMemoryClock = 2, kChip = 0;

/// Asks a device and remembers the worst that it answered. An answer that is not Success, and a
/// function that is not there, is no value.
class Asker {
 public:
  Asker(const Functions& functions, Device device) : f(functions), device_(device) {}

  std::optional<unsigned> number(GetUnsigned function) {
    unsigned value = 0;
    return answered(function, &value) ? std::optional(value) : std::nullopt;
  }
  std::optional<unsigned> number(Function<Device, unsigned, unsigned*> function, unsigned which) {
    unsigned value = 0;
    return answered(function, which, &value) ? std::optional(value) : std::nullopt;
  }
  std::optional<unsigned long long> wide(Function<Device, unsigned long long*> function) {
    unsigned long long value = 0;
    return answered(function, &value) ? std::optional(value) : std::nullopt;
  }
  template <class T>
  std::optional<std::pair<T, T>> two(Function<Device, T*, T*> function) {
    T a = 0, b = 0;
    return answered(function, &a, &b) ? std::optional(std::pair(a, b)) : std::nullopt;
  }
  std::optional<double> watts(GetUnsigned function) {
    const auto milliwatts = number(function);
    return milliwatts ? std::optional(*milliwatts / 1000.0) : std::nullopt;
  }
  std::string text(GetText function) {
    std::array<char, 128> buffer{};
    if (!answered(function, buffer.data(), static_cast<unsigned>(buffer.size()))) return "";
    return std::string(buffer.data(), ::strnlen(buffer.data(), buffer.size()));
  }
  template <class T, class F>
  bool fill(F function, T& value) {
    return answered(function, &value);
  }

  /// Why nothing can be read; "" when something could.
  std::string error() const {
    if (is_gone(worst_)) return words(worst_);
    return any_ || worst_ == kSuccess || worst_ == kNotSupported ? "" : words(worst_);
  }

  const Functions& f;

 private:
  template <class F, class... A>
  bool answered(F function, A... arguments) {
    if (function == nullptr) return false;
    const int code = function(device_, arguments...);
    if (code == kSuccess) {
      any_ = true;
      return true;
    }
    if (!is_gone(worst_) && (is_gone(code) || worst_ == kSuccess || worst_ == kNotSupported)) {
      worst_ = code;
    }
    return false;
  }

  Device device_;
  int worst_ = kSuccess;
  bool any_ = false;
};

struct MemoryMib {
  std::optional<double> total, used, reserved;
};

MemoryMib memory_of(Asker& ask) {
  MemoryV2 v2{};
  v2.version = kMemoryV2;
  if (ask.fill(ask.f.memory_v2, v2)) {
    return {static_cast<double>(v2.total) / kMib, static_cast<double>(v2.used) / kMib,
            static_cast<double>(v2.reserved) / kMib};
  }
  Memory v1{};
  if (ask.fill(ask.f.memory, v1)) {
    return {static_cast<double>(v1.total) / kMib, static_cast<double>(v1.used) / kMib, {}};
  }
  return {};
}

template <class To, class From>
std::optional<To> as(const std::optional<From>& value) {
  return value ? std::optional(static_cast<To>(*value)) : std::nullopt;
}

void describe_power(Asker& ask, BoardInfo& info) {
  const Functions& f = ask.f;
  info.limit_requested_w = ask.watts(f.limit_requested);
  info.limit_enforced_w = ask.watts(f.limit_enforced);
  info.limit_default_w = ask.watts(f.limit_default);
  if (const auto range = ask.two(f.limit_range)) {
    info.limit_min_w = range->first / 1000.0;
    info.limit_max_w = range->second / 1000.0;
  }
  info.has_counter = ask.wide(f.energy).has_value();
  if (const auto source = ask.number(f.power_source)) {
    info.power_source = *source == 0 ? "ac" : *source == 1 ? "battery" : "undersized";
  }
}

void describe_chip(Asker& ask, BoardInfo& info) {
  const auto version = ask.two(ask.f.compute_capability);
  if (!version) return;
  const auto [major, minor] = *version;
  info.compute_capability = fmt::format("{}.{}", major, minor);
  // nvml.h on nvmlDeviceGetPowerUsage: an average over a second on Ampere and newer, except GA100
  // (8.0); of the others it does not say how often they read.
  if (major > 8 || (major == 8 && minor > 0)) info.reading_period_s = 1.0;
}

}  // namespace

BoardInfo describe(const Functions& f, Device device) {
  Asker ask(f, device);
  BoardInfo info;
  info.source = "nvml";
  info.id = ask.text(f.uuid);
  info.name = ask.text(f.name);
  PciInfo pci{};
  if (ask.fill(f.pci, pci)) {
    info.pci = fmt::format("{:08X}:{:02X}:{:02X}.0", pci.domain, pci.bus, pci.device);
  }
  const MemoryMib memory = memory_of(ask);
  info.memory_total_mib = memory.total;
  info.memory_used_mib = memory.used;
  info.memory_reserved_mib = memory.reserved;
  describe_power(ask, info);
  describe_chip(ask, info);
  info.sm_mhz = as<double>(ask.number(f.clock, kSm));
  info.memory_mhz = as<double>(ask.number(f.clock, kMemoryClock));
  info.temperature_c = as<double>(ask.number(f.temperature, kChip));
  Utilisation utilisation{};
  if (ask.fill(f.utilisation, utilisation)) info.utilisation_percent = utilisation.gpu;
  info.clock_reasons = as<std::uint64_t>(ask.wide(f.clock_reasons));
  info.link_generation = as<std::int64_t>(ask.number(f.link_generation));
  info.link_generation_max = as<std::int64_t>(ask.number(f.link_generation_max));
  info.link_width = as<std::int64_t>(ask.number(f.link_width));
  info.link_width_max = as<std::int64_t>(ask.number(f.link_width_max));
  info.persistence = as<bool>(ask.number(f.persistence));
  if (const auto ecc = ask.two(f.ecc)) info.ecc = ecc->first != 0;
  if (const auto mig = ask.two(f.mig_mode)) info.mig = mig->first != 0;
  if (info.mig.value_or(false)) {
    for (InstanceDevice& one : instances(f, device)) info.instances.push_back(one.instance);
  }
  info.error = ask.error();
  return info;
}

record::PowerReading read(const Functions& f, Device device, std::string& error) {
  Asker ask(f, device);
  record::PowerReading out;
  out.watts = ask.watts(f.power);
  if (const auto millijoules = ask.wide(f.energy)) {
    out.energy_j = static_cast<double>(*millijoules) / 1000.0;
  }
  out.memory_mib = memory_of(ask).used;
  Utilisation utilisation{};
  if (ask.fill(f.utilisation, utilisation)) out.utilisation_percent = utilisation.gpu;
  out.temperature_c = as<double>(ask.number(f.temperature, kChip));
  out.sm_mhz = as<double>(ask.number(f.clock, kSm));
  out.clock_reasons = as<std::uint64_t>(ask.wide(f.clock_reasons));
  out.processes = count_processes(f.compute_processes, device);
  error = ask.error();
  if (!error.empty()) out = {};  // what a lost board still seems to tell is not of now
  return out;
}

std::vector<InstanceDevice> instances(const Functions& f, Device device) {
  std::vector<InstanceDevice> out;
  if (f.mig_slots == nullptr || f.mig_by_slot == nullptr) return out;
  const unsigned slots = Asker(f, device).number(f.mig_slots).value_or(0);
  for (unsigned slot = 0; slot < slots; ++slot) {
    Device part = nullptr;
    if (f.mig_by_slot(device, slot, &part) != kSuccess) continue;  // an empty slot
    Asker ask(f, part);
    Instance instance;
    instance.id = ask.text(f.uuid);
    instance.name = ask.text(f.name);
    instance.gpu_instance = as<std::int64_t>(ask.number(f.gpu_instance));
    instance.compute_instance = as<std::int64_t>(ask.number(f.compute_instance));
    const MemoryMib memory = memory_of(ask);
    instance.memory_total_mib = memory.total;
    instance.memory_used_mib = memory.used;
    out.push_back({part, std::move(instance)});
  }
  return out;
}

int list_processes(GetProcesses function, std::size_t entry_bytes, Device device,
                   std::vector<Process>& out) {
  constexpr int kTries = 4;
  constexpr unsigned kMost = 1U << 16;  // a driver that says more is not believed
  if (function == nullptr) return kFunctionNotFound;
  unsigned count = 0;
  int code = function(device, &count, nullptr);
  for (int i = 0; i < kTries && code == kInsufficientSize && count < kMost; ++i) {
    count = count * 2 + 5;
    std::vector<unsigned char> bytes(count * entry_bytes);
    const unsigned room = count;
    code = function(device, &count, bytes.data());
    if (code != kSuccess) continue;
    for (unsigned n = 0; n < std::min(count, room); ++n) {
      const unsigned char* at = bytes.data() + n * entry_bytes;
      Process one;
      std::memcpy(&one.pid, at, sizeof one.pid);
      std::memcpy(&one.used, at + 8, sizeof one.used);
      if (entry_bytes >= 24) {
        std::memcpy(&one.gpu_instance, at + 16, sizeof one.gpu_instance);
        std::memcpy(&one.compute_instance, at + 20, sizeof one.compute_instance);
      }
      out.push_back(one);
    }
  }
  return code;
}

std::optional<std::int64_t> count_processes(GetProcesses function, Device device) {
  if (function == nullptr) return std::nullopt;
  unsigned count = 0;
  const int code = function(device, &count, nullptr);
  if (code == kSuccess) return 0;
  return code == kInsufficientSize ? std::optional<std::int64_t>(count) : std::nullopt;
}

}  // namespace deem::board::nvml

// The functions of libnvidia-ml.so.1, after nvml.h; fake_nvml.h says what they answer.
#include "board/fake/fake_nvml.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

namespace {

using deem::fake::Board;
using deem::fake::Mig;
using deem::fake::Process;

constexpr int kSuccess = 0, kUninitialized = 1, kInvalid = 2, kNotSupported = 3, kNotFound = 6,
              kTooSmall = 7, kLost = 15;
[[maybe_unused]] constexpr int kWrongVersion = 25;

struct State {
  std::mutex mutex;  // guards what follows
  bool running = false;
  deem::fake::Script script;
  int inits = 0;
};

State& state() {
  static State out;
  return out;
}

std::atomic<double> fixed_time{-1};

double now_s() {
  const double fixed = fixed_time.load();
  if (fixed >= 0) return fixed;
  static const auto begin = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

unsigned long long bytes_of(double mib) { return static_cast<unsigned long long>(mib * (1 << 20)); }

int copy_text(const std::string& text, char* out, unsigned length) {
  if (text.size() + 1 > length) return kTooSmall;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

/// A device's handle is its Board or its Mig.
struct Target {
  Board* board = nullptr;
  Mig* mig = nullptr;
};

Target target_of(void* device) {
  for (const auto& board : state().script.boards) {
    if (board.get() == device) return {board.get(), nullptr};
    for (const auto& mig : board->migs) {
      if (mig.get() == device) return {board.get(), mig.get()};
    }
  }
  return {};
}

/// Answers by `answer(target)` unless the script has it fail.
template <class F>
int with(void* device, const char* symbol, F answer) {
  const std::scoped_lock lock(state().mutex);
  if (!state().running) return kUninitialized;
  const Target target = target_of(device);
  if (target.board == nullptr) return kInvalid;
  const Board& board = *target.board;
  const bool is_static = std::strcmp(symbol, "nvmlDeviceGetName") == 0;
  if (board.lost_s && !is_static && now_s() >= board.lost_s->first &&
      now_s() < board.lost_s->second) {
    return kLost;
  }
  const auto& all = state().script.fails;
  if (const auto at = all.find(symbol); at != all.end()) return at->second;
  if (const auto at = board.fails.find(symbol); at != board.fails.end()) return at->second;
  return answer(target);
}

template <class T, class Value>
int give(const std::optional<Value>& value, T* out) {
  if (!value) return kNotSupported;
  *out = static_cast<T>(*value);
  return kSuccess;
}

int global_failure(const char* symbol) {
  const auto& all = state().script.fails;
  const auto at = all.find(symbol);
  return at == all.end() ? kSuccess : at->second;
}

int list(void* device, const char* symbol, const char* kind, std::size_t entry, unsigned* count,
         void* out) {
  return with(device, symbol, [&](const Target& target) {
    Board& board = *target.board;
    std::vector<Process>& all = board.processes[kind];
    const bool compute = std::strcmp(kind, "compute") == 0;
    if (out != nullptr && compute && board.grown < 3 && board.grow > 0) {
      ++board.grown;
      for (unsigned i = 0; i < board.grow; ++i) {
        all.push_back({.pid = 10'000 + static_cast<unsigned>(all.size()), .used = bytes_of(1)});
      }
    }
    std::vector<Process> told;
    if (target.mig == nullptr) told = all;
    if (target.mig != nullptr && compute) told = target.mig->processes;
    const unsigned room = *count;
    *count = static_cast<unsigned>(told.size());
    if (told.empty()) return kSuccess;
    if (out == nullptr || room < told.size()) return kTooSmall;
    auto* at = static_cast<unsigned char*>(out);
    for (const Process& one : told) {
      std::memset(at, 0xAB, entry);  // what lies between and after the members is not ours to read
      std::memcpy(at, &one.pid, 4);
      std::memcpy(at + 8, &one.used, 8);
      if (entry > 16) {
        std::memcpy(at + 16, &one.gpu_instance, 4);
        std::memcpy(at + 20, &one.compute_instance, 4);
      }
      at += entry;
    }
    return kSuccess;
  });
}

int init() {
  const std::scoped_lock lock(state().mutex);
  state().script = deem::fake::load_script(std::getenv("DEEM_FAKE_NVML"));
  ++state().inits;
  if (const int code = global_failure("nvmlInit"); code != kSuccess) return code;
  state().running = true;
  return kSuccess;
}

int count_of(unsigned* out) {
  const std::scoped_lock lock(state().mutex);
  if (!state().running) return kUninitialized;
  *out = static_cast<unsigned>(state().script.boards.size());
  return global_failure("nvmlDeviceGetCount");
}

int by_index(unsigned index, void** out) {
  const std::scoped_lock lock(state().mutex);
  if (!state().running) return kUninitialized;
  if (index >= state().script.boards.size()) return kInvalid;
  Board& board = *state().script.boards[index];
  if (board.nohandle) return *board.nohandle;
  *out = &board;
  return kSuccess;
}

struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};

int pci_of(void* device, Pci* out, bool new_name) {
  return with(device, "nvmlDeviceGetPciInfo", [&](const Target& target) {
    const auto& [domain, bus, slot] = target.board->pci;
    std::snprintf(out->legacy, sizeof out->legacy, "%04X:%02X:%02X.0", domain & 0xffff, bus & 0xff,
                  slot & 0xff);
    out->domain = domain;
    out->bus = bus;
    out->device = slot;
    if (new_name) {
      std::snprintf(out->bus_id, sizeof out->bus_id, "%08X:%02X:%02X.0", domain, bus & 0xff,
                    slot & 0xff);
    }
    return kSuccess;
  });
}

}  // namespace

// NOLINTBEGIN: the names are NVIDIA's
extern "C" {

/// Time of the script from now on, in seconds; negative: the clock's own.
void fake_nvml_set_time(double seconds) { fixed_time = seconds; }
int fake_nvml_inits() {
  const std::scoped_lock lock(state().mutex);
  return state().inits;
}

int nvmlShutdown() {
  const std::scoped_lock lock(state().mutex);
  state().running = false;
  return kSuccess;
}
int nvmlSystemGetDriverVersion(char* out, unsigned length) {
  const std::scoped_lock lock(state().mutex);
  return copy_text(state().script.driver, out, length);
}
int nvmlDeviceGetUUID(void* device, char* out, unsigned length) {
  return with(device, "nvmlDeviceGetUUID", [&](const Target& t) {
    return copy_text(t.mig != nullptr ? t.mig->uuid : t.board->uuid, out, length);
  });
}
int nvmlDeviceGetName(void* device, char* out, unsigned length) {
  return with(device, "nvmlDeviceGetName", [&](const Target& t) {
    return copy_text(t.board->name + (t.mig != nullptr ? " MIG" : ""), out, length);
  });
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** out) {
  const std::scoped_lock lock(state().mutex);
  if (!state().running) return kUninitialized;
  for (const auto& board : state().script.boards) {
    if (board->uuid != uuid) continue;
    *out = board.get();
    return kSuccess;
  }
  return kNotFound;
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* out) {
  return with(device, "nvmlDeviceGetMemoryInfo", [&](const Target& t) {
    if (!t.board->memory_mib) return kNotSupported;
    const auto [total, reserved, used] = *t.board->memory_mib;
    out[0] = bytes_of(total);
    out[1] = bytes_of(total - reserved - used);
    out[2] = bytes_of(reserved + used);
    return kSuccess;
  });
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* out) {
  return with(device, "nvmlDeviceGetPowerUsage", [&](const Target& t) {
    if (!t.board->power || t.mig != nullptr) return kNotSupported;
    *out = static_cast<unsigned>(t.board->power->at(now_s()) * 1000 + 0.5);
    return kSuccess;
  });
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* out) {
  return with(device, "nvmlDeviceGetUtilizationRates", [&](const Target& t) {
    out[1] = 0;
    return give(t.board->utilisation, out);
  });
}
int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* out) {
  return with(device, "nvmlDeviceGetTemperature", [&](const Target& t) {
    return sensor == 0 ? give(t.board->temperature, out) : kInvalid;
  });
}
int nvmlDeviceGetClockInfo(void* device, unsigned kind, unsigned* out) {
  return with(device, "nvmlDeviceGetClockInfo", [&](const Target& t) {
    if (!t.board->clocks) return kNotSupported;
    if (kind != 1 && kind != 2) return kInvalid;
    *out = kind == 1 ? t.board->clocks->first : t.board->clocks->second;
    return kSuccess;
  });
}

#define LIMIT(NAME, PLACE)                                              \
  int NAME(void* device, unsigned* out) {                               \
    return with(device, #NAME, [&](const Target& t) {                   \
      if (!t.board->limits_w) return kNotSupported;                     \
      *out = static_cast<unsigned>((*t.board->limits_w)[PLACE] * 1000); \
      return kSuccess;                                                  \
    });                                                                 \
  }
LIMIT(nvmlDeviceGetPowerManagementLimit, 0)
LIMIT(nvmlDeviceGetEnforcedPowerLimit, 1)
LIMIT(nvmlDeviceGetPowerManagementDefaultLimit, 2)
int nvmlDeviceGetPowerManagementLimitConstraints(void* device, unsigned* least, unsigned* most) {
  return with(device, "nvmlDeviceGetPowerManagementLimitConstraints", [&](const Target& t) {
    if (!t.board->limits_w) return kNotSupported;
    *least = static_cast<unsigned>((*t.board->limits_w)[3] * 1000);
    *most = static_cast<unsigned>((*t.board->limits_w)[4] * 1000);
    return kSuccess;
  });
}

#define LINK(NAME, PLACE)                             \
  int NAME(void* device, unsigned* out) {             \
    return with(device, #NAME, [&](const Target& t) { \
      if (!t.board->link) return kNotSupported;       \
      *out = (*t.board->link)[PLACE];                 \
      return kSuccess;                                \
    });                                               \
  }
LINK(nvmlDeviceGetCurrPcieLinkGeneration, 0)
LINK(nvmlDeviceGetMaxPcieLinkGeneration, 1)
LINK(nvmlDeviceGetCurrPcieLinkWidth, 2)
LINK(nvmlDeviceGetMaxPcieLinkWidth, 3)

int nvmlDeviceGetPersistenceMode(void* device, unsigned* out) {
  return with(device, "nvmlDeviceGetPersistenceMode",
              [&](const Target& t) { return give(t.board->persistence, out); });
}
int nvmlDeviceGetEccMode(void* device, unsigned* now, unsigned* next) {
  return with(device, "nvmlDeviceGetEccMode", [&](const Target& t) {
    *next = 0;
    return give(t.board->ecc, now);
  });
}
int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  return with(device, "nvmlDeviceGetCudaComputeCapability", [&](const Target& t) {
    if (!t.board->compute) return kNotSupported;
    *major = t.board->compute->first;
    *minor = t.board->compute->second;
    return kSuccess;
  });
}

#ifdef DEEM_FAKE_OLD

int nvmlInit() { return init(); }
int nvmlDeviceGetCount(unsigned* out) { return count_of(out); }
int nvmlDeviceGetHandleByIndex(unsigned index, void** out) { return by_index(index, out); }
int nvmlDeviceGetPciInfo(void* device, Pci* out) { return pci_of(device, out, false); }
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* out) {
  return with(device, "nvmlDeviceGetCurrentClocksThrottleReasons",
              [&](const Target& t) { return give(t.board->reasons, out); });
}
int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, void* out) {
  return list(device, "nvmlDeviceGetComputeRunningProcesses", "compute", 16, count, out);
}
int nvmlDeviceGetGraphicsRunningProcesses(void* device, unsigned* count, void* out) {
  return list(device, "nvmlDeviceGetGraphicsRunningProcesses", "graphics", 16, count, out);
}

#else

#ifdef DEEM_FAKE_WIDE
constexpr std::size_t kEntry = 32;
int nvmlDeviceGetConfComputeMemSizeInfo(void*, void*) { return kNotSupported; }
#else
constexpr std::size_t kEntry = 24;
int nvmlDeviceGetConfComputeMemSizeInfo(void*, void*) { return kNotSupported; }
int nvmlDeviceGetRunningProcessDetailList(void*, void*) { return kNotSupported; }
#endif

int nvmlInit_v2() { return init(); }
int nvmlDeviceGetCount_v2(unsigned* out) { return count_of(out); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** out) { return by_index(index, out); }
int nvmlDeviceGetPciInfo_v3(void* device, Pci* out) { return pci_of(device, out, true); }
int nvmlSystemGetCudaDriverVersion_v2(int* out) {
  const std::scoped_lock lock(state().mutex);
  *out = state().script.cuda;
  return *out > 0 ? kSuccess : kNotSupported;
}
int nvmlDeviceGetMemoryInfo_v2(void* device, unsigned* out) {
  return with(device, "nvmlDeviceGetMemoryInfo_v2", [&](const Target& t) {
    if (*out != (40U | 2U << 24)) return kWrongVersion;
    auto* bytes = reinterpret_cast<unsigned long long*>(out) + 1;
    if (t.mig != nullptr) {
      bytes[0] = bytes_of(t.mig->total_mib);
      bytes[1] = 0;
      bytes[2] = bytes_of(t.mig->total_mib - t.mig->used_mib);
      bytes[3] = bytes_of(t.mig->used_mib);
      return kSuccess;
    }
    if (!t.board->memory_mib) return kNotSupported;
    const auto [total, reserved, used] = *t.board->memory_mib;
    bytes[0] = bytes_of(total);
    bytes[1] = bytes_of(reserved);
    bytes[2] = bytes_of(total - reserved - used);
    bytes[3] = bytes_of(used);
    return kSuccess;
  });
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* out) {
  return with(device, "nvmlDeviceGetTotalEnergyConsumption", [&](const Target& t) {
    const Board& b = *t.board;
    if (!b.energy_j || !b.power || t.mig != nullptr) return kNotSupported;
    double begin = 0, start = *b.energy_j;
    for (const double at : b.resets_s) {
      if (at > now_s()) break;
      begin = at;
      start = 0;
    }
    const double joules = start + b.power->integral(now_s()) - b.power->integral(begin);
    *out = static_cast<unsigned long long>(joules * 1000 + 0.5);
    return kSuccess;
  });
}
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* out) {
  return with(device, "nvmlDeviceGetCurrentClocksEventReasons",
              [&](const Target& t) { return give(t.board->reasons, out); });
}
int nvmlDeviceGetPowerSource(void* device, unsigned* out) {
  return with(device, "nvmlDeviceGetPowerSource",
              [&](const Target& t) { return give(t.board->source, out); });
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void* out) {
  return list(device, "nvmlDeviceGetComputeRunningProcesses_v3", "compute", kEntry, count, out);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(void* device, unsigned* count, void* out) {
  return list(device, "nvmlDeviceGetGraphicsRunningProcesses_v3", "graphics", kEntry, count, out);
}
int nvmlDeviceGetMPSComputeRunningProcesses_v3(void* device, unsigned* count, void* out) {
  return list(device, "nvmlDeviceGetMPSComputeRunningProcesses_v3", "mps", kEntry, count, out);
}
int nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* next) {
  return with(device, "nvmlDeviceGetMigMode", [&](const Target& t) {
    *next = 0;
    return give(t.board->mig_mode, now);
  });
}
int nvmlDeviceGetMaxMigDeviceCount(void* device, unsigned* out) {
  return with(device, "nvmlDeviceGetMaxMigDeviceCount", [&](const Target&) {
    *out = 7;
    return kSuccess;
  });
}
int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** out) {
  return with(device, "nvmlDeviceGetMigDeviceHandleByIndex", [&](const Target& t) {
    if (index >= t.board->migs.size()) return kNotFound;
    *out = t.board->migs[index].get();
    return kSuccess;
  });
}
int nvmlDeviceGetGpuInstanceId(void* device, unsigned* out) {
  return with(device, "nvmlDeviceGetGpuInstanceId", [&](const Target& t) {
    return t.mig == nullptr ? kInvalid : (*out = t.mig->gi, kSuccess);
  });
}
int nvmlDeviceGetComputeInstanceId(void* device, unsigned* out) {
  return with(device, "nvmlDeviceGetComputeInstanceId", [&](const Target& t) {
    return t.mig == nullptr ? kInvalid : (*out = t.mig->ci, kSuccess);
  });
}

#endif

}  // extern "C"
// NOLINTEND

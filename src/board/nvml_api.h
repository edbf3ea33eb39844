#pragma once

// Private to board: the part of NVIDIA's management library that we call, declared by ourselves so
// that nothing of NVIDIA's is needed to build. Layouts and numbers: nvml.h of driver 550.

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace deem::board::nvml {

// nvmlReturn_t.
constexpr int kSuccess = 0, kUninitialized = 1, kInvalidArgument = 2, kNotSupported = 3,
              kNoPermission = 4, kNotFound = 6, kInsufficientSize = 7, kDriverNotLoaded = 9,
              kLibraryNotFound = 12, kFunctionNotFound = 13, kGpuLost = 15, kResetRequired = 16,
              kMismatch = 18, kVersionMismatch = 25, kUnknown = 999;

/// "GPU is lost (NVML 15)".
std::string words(int code);
/// Whether a board that answers so can not be read at all.
bool is_gone(int code);

using Device = void*;

struct PciInfo {  // nvmlPciInfo_t; older ones are shorter and begin the same
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

struct Memory {  // bytes; used holds what is reserved too
  unsigned long long total, free, used;
};
struct MemoryV2 {  // bytes
  unsigned version;
  unsigned long long total, reserved, free, used;
};
static_assert(sizeof(MemoryV2) == 40);
constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2U << 24;

struct Utilisation {  // percent
  unsigned gpu, memory;
};

constexpr unsigned long long kNoValue = ~0ULL;  // NVML_VALUE_NOT_AVAILABLE
constexpr unsigned kNoInstance = ~0U;

/// An entry of a list of processes, of whatever layout the driver has.
struct Process {
  unsigned pid = 0;
  unsigned long long used = kNoValue;  // bytes
  unsigned gpu_instance = kNoInstance, compute_instance = kNoInstance;
};

template <class... A>
using Function = int (*)(A...);
using GetUnsigned = Function<Device, unsigned*>;
using GetTwo = Function<Device, unsigned*, unsigned*>;
using GetText = Function<Device, char*, unsigned>;
using GetProcesses = Function<Device, unsigned*, void*>;

/// What the library of this box has; absent functions are null.
struct Functions {
  Function<> init = nullptr, shutdown = nullptr;
  Function<char*, unsigned> driver_version = nullptr;
  Function<int*> cuda_version = nullptr;
  Function<unsigned*> count = nullptr;
  Function<unsigned, Device*> by_index = nullptr;
  Function<const char*, Device*> by_uuid = nullptr;
  GetText uuid = nullptr, name = nullptr;
  Function<Device, PciInfo*> pci = nullptr;
  Function<Device, Memory*> memory = nullptr;
  Function<Device, MemoryV2*> memory_v2 = nullptr;
  Function<Device, int*, int*> compute_capability = nullptr;
  Function<Device, Utilisation*> utilisation = nullptr;
  Function<Device, unsigned, unsigned*> temperature = nullptr;  // sensor 0: the chip
  Function<Device, unsigned, unsigned*> clock = nullptr;        // 1: SM, 2: memory; MHz
  Function<Device, unsigned long long*> clock_reasons = nullptr;
  Function<Device, unsigned long long*> energy = nullptr;  // mJ since the driver was loaded
  // mW.
  GetUnsigned power = nullptr, limit_requested = nullptr, limit_enforced = nullptr,
              limit_default = nullptr;
  GetTwo limit_range = nullptr;
  GetUnsigned link_generation = nullptr, link_generation_max = nullptr, link_width = nullptr,
              link_width_max = nullptr;
  GetUnsigned persistence = nullptr, power_source = nullptr;
  GetTwo ecc = nullptr, mig_mode = nullptr;  // now, after the next reset
  GetUnsigned mig_slots = nullptr, gpu_instance = nullptr, compute_instance = nullptr;
  Function<Device, unsigned, Device*> mig_by_slot = nullptr;
  GetProcesses compute_processes = nullptr, graphics_processes = nullptr, mps_processes = nullptr;
  std::size_t process_bytes = 24;  // of one entry of such a list: 16, 24 or 32
};

/// The library, loaded; unloaded when this goes.
class Library {
 public:
  /// Loads `path` and resolves every function that is there.
  /// Errors: NotFound when it can not be loaded (the loader's words), Unsupported when it is none
  /// of NVIDIA's management libraries.
  static Result<Library> load(const std::string& path);
  Library(Library&& other) noexcept;
  Library& operator=(Library&& other) = delete;
  ~Library();
  const Functions& functions() const { return functions_; }

 private:
  Library(void* handle, const Functions& functions) : handle_(handle), functions_(functions) {}
  void* handle_;
  Functions functions_;
};

}  // namespace deem::board::nvml

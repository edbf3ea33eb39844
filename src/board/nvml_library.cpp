#include <dlfcn.h>

#include <initializer_list>
#include <utility>

#include "board/nvml_api.h"

namespace deem::board::nvml {
namespace {

/// The first of `names` that the library has; null without one.
template <class F>
void resolve(void* library, F& function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* symbol = ::dlsym(library, name); symbol != nullptr) {
      function = reinterpret_cast<F>(symbol);
      return;
    }
  }
}

/// One driver branch (530) grew the entries of _v3 lists to 32 bytes and went back; it is told by
/// what it has and has not, as nvitop does.
std::size_t process_bytes(void* library) {
  const auto has = [&](const char* name) { return ::dlsym(library, name) != nullptr; };
  if (has("nvmlDeviceGetComputeRunningProcesses_v3")) {
    return has("nvmlDeviceGetConfComputeMemSizeInfo") &&
                   !has("nvmlDeviceGetRunningProcessDetailList")
               ? 32
               : 24;
  }
  return has("nvmlDeviceGetComputeRunningProcesses_v2") ? 24 : 16;
}

Functions resolve_all(void* lib) {
  Functions f;
  resolve(lib, f.init, {"nvmlInit_v2", "nvmlInit"});
  resolve(lib, f.shutdown, {"nvmlShutdown"});
  resolve(lib, f.driver_version, {"nvmlSystemGetDriverVersion"});
  resolve(lib, f.cuda_version,
          {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  resolve(lib, f.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  resolve(lib, f.by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  resolve(lib, f.by_uuid, {"nvmlDeviceGetHandleByUUID"});
  resolve(lib, f.uuid, {"nvmlDeviceGetUUID"});
  resolve(lib, f.name, {"nvmlDeviceGetName"});
  resolve(lib, f.pci,
          {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"});
  resolve(lib, f.memory, {"nvmlDeviceGetMemoryInfo"});
  resolve(lib, f.memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  resolve(lib, f.compute_capability, {"nvmlDeviceGetCudaComputeCapability"});
  resolve(lib, f.utilisation, {"nvmlDeviceGetUtilizationRates"});
  resolve(lib, f.temperature, {"nvmlDeviceGetTemperature"});
  resolve(lib, f.clock, {"nvmlDeviceGetClockInfo"});
  resolve(lib, f.clock_reasons,
          {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  resolve(lib, f.energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  resolve(lib, f.power, {"nvmlDeviceGetPowerUsage"});
  resolve(lib, f.limit_requested, {"nvmlDeviceGetPowerManagementLimit"});
  resolve(lib, f.limit_enforced, {"nvmlDeviceGetEnforcedPowerLimit"});
  resolve(lib, f.limit_default, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  resolve(lib, f.limit_range, {"nvmlDeviceGetPowerManagementLimitConstraints"});
  resolve(lib, f.link_generation, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  resolve(lib, f.link_generation_max, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  resolve(lib, f.link_width, {"nvmlDeviceGetCurrPcieLinkWidth"});
  resolve(lib, f.link_width_max, {"nvmlDeviceGetMaxPcieLinkWidth"});
  resolve(lib, f.persistence, {"nvmlDeviceGetPersistenceMode"});
  resolve(lib, f.power_source, {"nvmlDeviceGetPowerSource"});
  resolve(lib, f.ecc, {"nvmlDeviceGetEccMode"});
  resolve(lib, f.mig_mode, {"nvmlDeviceGetMigMode"});
  resolve(lib, f.mig_slots, {"nvmlDeviceGetMaxMigDeviceCount"});
  resolve(lib, f.mig_by_slot, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  resolve(lib, f.gpu_instance, {"nvmlDeviceGetGpuInstanceId"});
  resolve(lib, f.compute_instance, {"nvmlDeviceGetComputeInstanceId"});
  // All three lists of one version: their entries have one size.
  f.process_bytes = process_bytes(lib);
  const std::string suffix = ::dlsym(lib, "nvmlDeviceGetComputeRunningProcesses_v3") != nullptr
                                 ? "_v3"
                                 : (f.process_bytes == 24 ? "_v2" : "");
  const auto list = [&](GetProcesses& function, const std::string& name) {
    resolve(lib, function, {(name + suffix).c_str()});
  };
  list(f.compute_processes, "nvmlDeviceGetComputeRunningProcesses");
  list(f.graphics_processes, "nvmlDeviceGetGraphicsRunningProcesses");
  list(f.mps_processes, "nvmlDeviceGetMPSComputeRunningProcesses");
  return f;
}

}  // namespace

std::string words(int code) {
  const char* what = "failed";
  switch (code) {
    case kSuccess:
      what = "done";
      break;
    case kUninitialized:
      what = "not initialised";
      break;
    case kInvalidArgument:
      what = "invalid argument";
      break;
    case kNotSupported:
      what = "not supported";
      break;
    case kNoPermission:
      what = "no permission";
      break;
    case kNotFound:
      what = "not found";
      break;
    case kInsufficientSize:
      what = "buffer too small";
      break;
    case kDriverNotLoaded:
      what = "the driver is not loaded";
      break;
    case kLibraryNotFound:
      what = "a library of the driver is missing";
      break;
    case kFunctionNotFound:
      what = "the driver lacks a function";
      break;
    case kGpuLost:
      what = "GPU is lost";
      break;
    case kResetRequired:
      what = "GPU needs a reset";
      break;
    case kMismatch:
      what = "library and driver are of different versions";
      break;
    case kVersionMismatch:
      what = "the driver has another version of a structure";
      break;
    case kUnknown:
      what = "unknown error";
      break;
    default:
      break;
  }
  return std::string(what) + " (NVML " + std::to_string(code) + ")";
}

bool is_gone(int code) {
  return code == kUninitialized || code == kDriverNotLoaded || code == kGpuLost ||
         code == kResetRequired;
}

Result<Library> Library::load(const std::string& path) {
  ::dlerror();
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    return fail(Error::Code::NotFound, why != nullptr ? why : path + ": can not be loaded");
  }
  Library library(handle, resolve_all(handle));
  const Functions& f = library.functions_;
  if (f.init == nullptr || f.shutdown == nullptr || f.count == nullptr || f.by_index == nullptr ||
      f.uuid == nullptr) {
    return fail(Error::Code::Unsupported,
                path + ": lacks nvmlInit, nvmlShutdown or what lists boards by UUID");
  }
  return library;
}

Library::Library(Library&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), functions_(other.functions_) {}

Library::~Library() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

}  // namespace deem::board::nvml

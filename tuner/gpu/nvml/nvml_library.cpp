// SPDX-License-Identifier: MIT
#include "tuner/gpu/nvml/nvml_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace pgtune::gpu {
namespace {

template <typename Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

NvmlLibrary::~NvmlLibrary() {
  if (initialised_) static_cast<void>(shutdown());
  if (handle_ != nullptr) dlclose(handle_);
}

Result<std::shared_ptr<const NvmlLibrary>> NvmlLibrary::open(const std::string& path) {
  auto library = std::make_shared<NvmlLibrary>();
  library->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const handle = library->handle_;
  if (handle == nullptr) {
    const char* const why = dlerror();
    return fail(ErrorKind::kEnvironment, fmt::format("cannot open NVML: {}", why != nullptr ? why : path));
  }
  if (!look_up(handle, "nvmlInit_v2", library->init) || !look_up(handle, "nvmlShutdown", library->shutdown) ||
      !look_up(handle, "nvmlSystemGetDriverVersion", library->system_driver_version) ||
      !look_up(handle, "nvmlDeviceGetHandleByUUID", library->device_by_uuid)) {
    return fail(ErrorKind::kEnvironment, fmt::format("{} lacks a function of NVML", path));
  }
  look_up(handle, "nvmlErrorString", library->error_string);
  look_up(handle, "nvmlDeviceGetEnforcedPowerLimit", library->enforced_power_limit);
  look_up(handle, "nvmlDeviceGetName", library->device_name);
  look_up(handle, "nvmlDeviceIsMigDeviceHandle", library->is_mig_instance);
  look_up(handle, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", library->gpu_of_mig_instance);
  look_up(handle, "nvmlDeviceGetMigMode", library->mig_mode);
  look_up(handle, "nvmlDeviceGetTemperature", library->temperature);
  look_up(handle, "nvmlDeviceGetFieldValues", library->field_values);
  look_up(handle, "nvmlDeviceGetTotalEnergyConsumption", library->total_energy);
  look_up(handle, "nvmlDeviceGetClockInfo", library->clock_info);
  look_up(handle, "nvmlDeviceGetComputeRunningProcesses_v3", library->compute_processes);
  look_up(handle, "nvmlDeviceSetGpuLockedClocks", library->set_locked_clocks);
  look_up(handle, "nvmlDeviceResetGpuLockedClocks", library->reset_locked_clocks);
  look_up(handle, "nvmlDeviceGetSupportedMemoryClocks", library->supported_memory_clocks);
  look_up(handle, "nvmlDeviceGetSupportedGraphicsClocks", library->supported_graphics_clocks);
  look_up(handle, "nvmlDeviceGetApplicationsClock", library->applications_clock);
  look_up(handle, "nvmlDeviceGetMaxClockInfo", library->max_clock);
  if (const NvmlStatus status = library->init(); status != kNvmlSuccess) {
    return fail(ErrorKind::kEnvironment, fmt::format("NVML does not start: {}", library->text(status)));
  }
  library->initialised_ = true;
  return library;
}

std::string NvmlLibrary::text(NvmlStatus status) const {
  return error_string != nullptr ? fmt::format("{} (status {})", error_string(status), status)
                                 : fmt::format("status {}", status);
}

}  // namespace pgtune::gpu

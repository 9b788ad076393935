// SPDX-License-Identifier: MIT
#include "tuner/gpu/nvml/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <utility>

namespace pgtune::gpu {
namespace {

// NVML's stable C interface: status 0 is success, devices are opaque pointers, power is in milliwatts.
using Status = int;
constexpr Status kSuccess = 0;
using DeviceHandle = struct NvmlDeviceOpaque*;
constexpr unsigned kVersionBytes = 80;

template <typename Function>
[[nodiscard]] bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  Status (*system_driver_version)(char*, unsigned) = nullptr;
  Status (*device_by_uuid)(const char*, DeviceHandle*) = nullptr;
  Status (*enforced_power_limit_mw)(DeviceHandle, unsigned*) = nullptr;
  bool initialised = false;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (initialised) static_cast<void>(shutdown());
    if (handle != nullptr) dlclose(handle);
  }
};

Result<Nvml> Nvml::open(const std::string& library_path) {
  auto library = std::make_shared<Library>();
  library->handle = dlopen(library_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr) {
    const char* const why = dlerror();
    return fail(ErrorKind::kEnvironment, fmt::format("cannot open NVML: {}", why != nullptr ? why : library_path));
  }
  void* const handle = library->handle;
  if (!look_up(handle, "nvmlInit_v2", library->init) || !look_up(handle, "nvmlShutdown", library->shutdown) ||
      !look_up(handle, "nvmlSystemGetDriverVersion", library->system_driver_version) ||
      !look_up(handle, "nvmlDeviceGetHandleByUUID", library->device_by_uuid) ||
      !look_up(handle, "nvmlDeviceGetEnforcedPowerLimit", library->enforced_power_limit_mw)) {
    return fail(ErrorKind::kEnvironment, fmt::format("{} lacks a function of NVML", library_path));
  }
  if (const Status status = library->init(); status != kSuccess) {
    return fail(ErrorKind::kEnvironment, fmt::format("NVML does not start (status {})", status));
  }
  library->initialised = true;
  return Nvml(std::move(library));
}

std::string Nvml::driver_version() const {
  std::array<char, kVersionBytes> text{};
  if (library_->system_driver_version(text.data(), kVersionBytes) != kSuccess) return {};
  return text.data();
}

double Nvml::power_limit_w(const std::string& uuid) const {
  DeviceHandle device = nullptr;
  unsigned limit_mw = 0;
  if (library_->device_by_uuid(uuid.c_str(), &device) != kSuccess) return 0;
  if (library_->enforced_power_limit_mw(device, &limit_mw) != kSuccess) return 0;
  return static_cast<double>(limit_mw) / 1000.0;
}

}  // namespace pgtune::gpu

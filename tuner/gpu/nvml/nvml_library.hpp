// SPDX-License-Identifier: MIT
// NVML's functions, looked up by name. Required ones are checked when the library is opened; the others may be null,
// for example with an old driver.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tuner/util/result.hpp"

namespace pgtune::gpu {

// NVML's stable C interface: devices are opaque pointers; power in milliwatts, energy in millijoules, clocks in MHz.
using NvmlStatus = int;
inline constexpr NvmlStatus kNvmlSuccess = 0, kNvmlNotSupported = 3, kNvmlNoPermission = 4, kNvmlInsufficientSize = 7;
inline constexpr int kNvmlClockGraphics = 0, kNvmlClockSm = 1;

/// nvmlFieldValue_t.
struct NvmlFieldValue {
  unsigned field = 0, scope = 0;
  long long timestamp_us = 0, latency_us = 0;
  int value_type = 0;
  NvmlStatus status = 0;
  std::uint64_t value = 0;  ///< the low 32 bits where value_type is kNvmlUnsigned32
};
inline constexpr int kNvmlUnsigned32 = 1;

/// nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v3.
struct NvmlProcessInfo {
  unsigned pid = 0;
  unsigned long long memory_bytes = 0;
  unsigned gpu_instance = 0, compute_instance = 0;
};

struct NvmlLibrary {
  NvmlStatus (*init)() = nullptr;
  NvmlStatus (*shutdown)() = nullptr;
  NvmlStatus (*system_driver_version)(char*, unsigned) = nullptr;
  NvmlStatus (*device_by_uuid)(const char*, void**) = nullptr;

  const char* (*error_string)(NvmlStatus) = nullptr;
  NvmlStatus (*enforced_power_limit)(void*, unsigned*) = nullptr;
  /// For an instance "NVIDIA H200 MIG 1g.18gb".
  NvmlStatus (*device_name)(void*, char*, unsigned) = nullptr;
  NvmlStatus (*is_mig_instance)(void*, unsigned*) = nullptr;
  NvmlStatus (*gpu_of_mig_instance)(void*, void**) = nullptr;
  NvmlStatus (*mig_mode)(void*, unsigned* now, unsigned* after_reset) = nullptr;
  NvmlStatus (*temperature)(void*, int, unsigned*) = nullptr;
  NvmlStatus (*field_values)(void*, int, NvmlFieldValue*) = nullptr;
  NvmlStatus (*total_energy)(void*, unsigned long long*) = nullptr;
  NvmlStatus (*clock_info)(void*, int, unsigned*) = nullptr;
  NvmlStatus (*compute_processes)(void*, unsigned*, NvmlProcessInfo*) = nullptr;

  // For clock_lock.hpp. Lists take the number of places and return that of entries.
  NvmlStatus (*set_locked_clocks)(void*, unsigned min_mhz, unsigned max_mhz) = nullptr;
  NvmlStatus (*reset_locked_clocks)(void*) = nullptr;
  NvmlStatus (*supported_memory_clocks)(void*, unsigned* count, unsigned* mhz) = nullptr;
  NvmlStatus (*supported_graphics_clocks)(void*, unsigned memory_mhz, unsigned* count, unsigned* mhz) = nullptr;
  NvmlStatus (*applications_clock)(void*, int, unsigned* mhz) = nullptr;
  NvmlStatus (*max_clock)(void*, int, unsigned* mhz) = nullptr;

  NvmlLibrary() = default;
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;
  /// Shuts NVML down and closes the library.
  ~NvmlLibrary();

  /// Errors as Nvml::open.
  [[nodiscard]] static Result<std::shared_ptr<const NvmlLibrary>> open(const std::string& path);
  /// NVML's text for a status, or its number.
  [[nodiscard]] std::string text(NvmlStatus status) const;

 private:
  void* handle_ = nullptr;
  bool initialised_ = false;
};

}  // namespace pgtune::gpu

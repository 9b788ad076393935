// SPDX-License-Identifier: MIT
// NVML, which belongs to the driver and may be missing. It is opened at run time, through our own declarations, since a
// CUDA Toolkit from wheels has neither its header nor a stub to link. A value that a GPU or driver lacks is an empty
// optional, never a failure. Only clock_lock.hpp changes settings.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/gpu_process.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

struct NvmlLibrary;  // nvml_library.hpp

/// Time since the driver was loaded during which it reduced this GPU's clocks, by cause. Only differences are
/// meaningful.
struct ThrottleTimes {
  std::optional<double> power_cap_s;  ///< the power limit
  std::optional<double> thermal_s;    ///< heat (software or hardware) or external power brake
};

/// The profile in the name that NVIDIA gives an instance of a GPU: "1g.18gb" of "NVIDIA H200 MIG 1g.18gb"; empty for a
/// whole GPU.
[[nodiscard]] std::string mig_profile_in(std::string_view name);

/// One GPU. Copies share the library.
class NvmlDevice {
 public:
  /// The power limit in force, for an instance its GPU's; 0 if NVML does not report it.
  [[nodiscard]] double power_limit_w() const;
  /// "1g.18gb" for an instance; empty: the whole GPU.
  [[nodiscard]] std::string mig_profile() const;
  /// Whether the GPU is divided, so that work on it runs on an instance.
  [[nodiscard]] bool in_mig_mode() const;
  [[nodiscard]] std::optional<double> temperature_c() const;     ///< costs about 1 us on an H200
  [[nodiscard]] ThrottleTimes throttle_times() const;            ///< one call, about 1 ms on an H200
  [[nodiscard]] std::optional<double> energy_j() const;          ///< since the driver was loaded; about 3 ms
  [[nodiscard]] std::optional<double> averaged_power_w() const;  ///< over the last second
  [[nodiscard]] std::optional<double> sm_clock_hz() const;       ///< now
  /// All processes with a context on the GPU, including this one; names from /proc.
  [[nodiscard]] std::vector<GpuProcess> compute_processes() const;
  [[nodiscard]] const std::string& uuid() const { return uuid_; }

 private:
  friend class Nvml;
  friend class ClockLock;
  /// The handle of an instance's GPU; else its own handle.
  [[nodiscard]] void* whole_gpu() const;

  NvmlDevice(std::shared_ptr<const NvmlLibrary> library, void* handle, std::string uuid)
      : library_(std::move(library)), handle_(handle), uuid_(std::move(uuid)) {}

  std::shared_ptr<const NvmlLibrary> library_;
  void* handle_;  ///< NVML's, valid while the library is initialised
  std::string uuid_;
};

class Nvml {
 public:
  /// Opens $PGTUNE_NVML_LIBRARY if it is set (for tests), else libnvidia-ml.so.1. Errors (environment): the library is
  /// missing, lacks a required function, or does not start.
  [[nodiscard]] static Result<Nvml> open();
  [[nodiscard]] static Result<Nvml> open(const std::string& library_path);

  /// "580.159.04"; empty if NVML does not report it.
  [[nodiscard]] std::string driver_version() const;
  /// By UUID ("GPU-...", "MIG-..."), because NVML's numbering ignores CUDA_VISIBLE_DEVICES. Errors (environment): no
  /// such GPU.
  [[nodiscard]] Result<NvmlDevice> device(const std::string& uuid) const;

 private:
  explicit Nvml(std::shared_ptr<const NvmlLibrary> library) : library_(std::move(library)) {}

  std::shared_ptr<const NvmlLibrary> library_;  ///< shuts NVML down and closes the library
};

/// An energy counter and the clock for watching it.
struct EnergyCounter {
  std::function<std::optional<double>()> energy_j;  ///< nothing if there is no counter
  std::function<double()> now_s;                    ///< seconds since any fixed instant; never goes back
  std::function<void(double)> sleep_s;
};

/// Median time between two changes of the counter, in seconds, watched for at most `patience_s`. Nothing if there is no
/// counter or it changed fewer than three times.
[[nodiscard]] std::optional<double> energy_step_s(const EnergyCounter& counter, double patience_s);
/// The period of the device's counter (an H200's changes every 100 ms, also when idle).
[[nodiscard]] std::optional<double> energy_step_s(const NvmlDevice& device, std::chrono::milliseconds patience);

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// NVML, which belongs to the driver and may be missing: it is opened at run time, through declarations of our own,
// since a CUDA Toolkit from wheels has neither its header nor a stub to link. Whatever a GPU or driver lacks is an
// empty optional, never a failure; only clock_lock.hpp changes anything.
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

/// Time since the driver was loaded in which it held this GPU's clocks down, by cause. Only differences mean anything.
struct ThrottleTimes {
  std::optional<double> power_cap_s;  ///< the power limit
  std::optional<double> thermal_s;    ///< heat (software or hardware) or external power brake
};

/// The profile in the name that NVIDIA gives an instance of a GPU: "1g.18gb" of "NVIDIA H200 MIG 1g.18gb"; empty where
/// it names a whole GPU.
[[nodiscard]] std::string mig_profile_in(std::string_view name);

/// One GPU. Copies share the library.
class NvmlDevice {
 public:
  /// The power limit in force, of an instance that of its GPU; 0 where NVML does not say.
  [[nodiscard]] double power_limit_w() const;
  /// "1g.18gb" of an instance; empty: the whole GPU.
  [[nodiscard]] std::string mig_profile() const;
  /// Whether the GPU is divided, so that work on it runs on an instance.
  [[nodiscard]] bool in_mig_mode() const;
  [[nodiscard]] std::optional<double> temperature_c() const;     ///< costs about 1 us on an H200
  [[nodiscard]] ThrottleTimes throttle_times() const;            ///< one call, about 1 ms on an H200
  [[nodiscard]] std::optional<double> energy_j() const;          ///< since the driver was loaded; about 3 ms
  [[nodiscard]] std::optional<double> averaged_power_w() const;  ///< over the last second
  [[nodiscard]] std::optional<double> sm_clock_hz() const;       ///< now
  /// All with a context on the GPU, this one included; names from /proc.
  [[nodiscard]] std::vector<GpuProcess> compute_processes() const;
  [[nodiscard]] const std::string& uuid() const { return uuid_; }

 private:
  friend class Nvml;
  friend class ClockLock;
  /// The handle of the GPU that an instance is of; else the own one.
  [[nodiscard]] void* whole_gpu() const;

  NvmlDevice(std::shared_ptr<const NvmlLibrary> library, void* handle, std::string uuid)
      : library_(std::move(library)), handle_(handle), uuid_(std::move(uuid)) {}

  std::shared_ptr<const NvmlLibrary> library_;
  void* handle_;  ///< NVML's, valid while the library is initialised
  std::string uuid_;
};

class Nvml {
 public:
  /// Opens $PGTUNE_NVML_LIBRARY where that is set (a test's stand-in), else libnvidia-ml.so.1. Errors (environment):
  /// the library is not there, lacks a function everything needs, or does not start.
  [[nodiscard]] static Result<Nvml> open();
  [[nodiscard]] static Result<Nvml> open(const std::string& library_path);

  /// "580.159.04"; empty where NVML does not say.
  [[nodiscard]] std::string driver_version() const;
  /// By UUID ("GPU-...", "MIG-..."), because NVML's numbering ignores CUDA_VISIBLE_DEVICES. Errors (environment): no
  /// such GPU.
  [[nodiscard]] Result<NvmlDevice> device(const std::string& uuid) const;

 private:
  explicit Nvml(std::shared_ptr<const NvmlLibrary> library) : library_(std::move(library)) {}

  std::shared_ptr<const NvmlLibrary> library_;  ///< shuts NVML down and closes the library
};

/// An energy counter and the clock it is watched by.
struct EnergyCounter {
  std::function<std::optional<double>()> energy_j;  ///< nothing where there is no counter
  std::function<double()> now_s;                    ///< seconds since any fixed instant; never goes back
  std::function<void(double)> sleep_s;
};

/// Median time between two changes of the counter, in seconds, watched for at most `patience_s`. Nothing where there is
/// no counter or it moved fewer than three times.
[[nodiscard]] std::optional<double> energy_step_s(const EnergyCounter& counter, double patience_s);
/// That of the device's counter (an H200's moves every 100 ms, also when idle).
[[nodiscard]] std::optional<double> energy_step_s(const NvmlDevice& device, std::chrono::milliseconds patience);

}  // namespace pgtune::gpu

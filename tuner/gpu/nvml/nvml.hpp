// SPDX-License-Identifier: MIT
// Read-only facts from NVML, which belongs to the driver and may be missing: it is opened at run time, through
// declarations of our own, since a CUDA Toolkit from wheels has neither its header nor a stub to link.
#pragma once

#include <memory>
#include <string>

#include "tuner/model/result.hpp"

namespace pgtune::gpu {

class Nvml {
 public:
  /// Errors (environment): the library is not there, lacks a function or does not start.
  [[nodiscard]] static Result<Nvml> open(const std::string& library_path = "libnvidia-ml.so.1");

  /// "580.159.04"; empty where NVML does not say.
  [[nodiscard]] std::string driver_version() const;
  /// The power limit in force on the GPU with this UUID ("GPU-..."); 0 where NVML does not say.
  /// By UUID, because NVML's numbering ignores CUDA_VISIBLE_DEVICES.
  [[nodiscard]] double power_limit_w(const std::string& uuid) const;

 private:
  struct Library;
  explicit Nvml(std::shared_ptr<const Library> library) : library_(std::move(library)) {}

  std::shared_ptr<const Library> library_;  ///< shuts NVML down and closes the library
};

}  // namespace pgtune::gpu

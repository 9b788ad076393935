// SPDX-License-Identifier: MIT
// A cubin loaded into the current context.
#pragma once

#include <string>
#include <utility>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"

namespace pgtune::gpu {

class Module {
 public:
  /// `driver` must outlive the module.
  [[nodiscard]] static CudaResult<Module> load(const Driver& driver, const std::string& cubin);

  Module(Module&& other) noexcept : driver_(other.driver_), module_(std::exchange(other.module_, nullptr)) {}
  Module& operator=(Module&&) = delete;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  /// A kernel by its extern "C" name. Valid as long as the module.
  [[nodiscard]] CudaResult<CUfunction> function(const std::string& symbol) const;

 private:
  Module(const Driver& driver, CUmodule module) : driver_(&driver), module_(module) {}

  const Driver* driver_;
  CUmodule module_;
};

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// A cubin of pgtune's own kernels, by number.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"

namespace pgtune::gpu {

template <std::size_t kCount>
class KernelTable {
 public:
  using Symbols = std::array<const char*, kCount>;

  /// `driver` and `symbols` must outlive the result. `owner` is for messages: "pgtune's".
  [[nodiscard]] static CudaResult<KernelTable> load(const Driver& driver, const std::string& cubin,
                                                    const Symbols& symbols, std::string owner) {
    TRY_ASSIGN(auto module, Module::load(driver, cubin));
    KernelTable table(driver, std::move(module), symbols, std::move(owner));
    for (std::size_t i = 0; i < kCount; ++i) {
      TRY_ASSIGN(table.functions_[i], table.module_.function(symbols[i]));
    }
    return table;
  }

  /// Enqueues one launch. The arguments have the types of the kernel's parameters.
  template <typename... Arguments>
  [[nodiscard]] CudaResult<> launch(std::size_t kernel, const Dim3& grid, const Dim3& block, cudaStream_t stream,
                                    Arguments... arguments) const {
    std::array<void*, sizeof...(arguments)> pointers{&arguments...};
    const CUlaunchConfig config = launch_config(grid, block, stream);
    return check(driver_->launch_kernel(&config, functions_[kernel], pointers.data(), nullptr),
                 "launching " + owner_ + " " + (*symbols_)[kernel]);
  }

 private:
  KernelTable(const Driver& driver, Module module, const Symbols& symbols, std::string owner)
      : driver_(&driver), module_(std::move(module)), symbols_(&symbols), owner_(std::move(owner)) {}

  const Driver* driver_;
  Module module_;
  const Symbols* symbols_;
  std::string owner_;
  std::array<CUfunction, kCount> functions_{};
};

}  // namespace pgtune::gpu

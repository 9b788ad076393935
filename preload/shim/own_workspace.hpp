// SPDX-License-Identifier: MIT
// Workspaces of pgtune's own, for kernels that need more than a program gives, as far as the user allows.
#pragma once

#include <cstddef>

#include "preload/shim/abi.hpp"

namespace pgtune::preload {

inline constexpr int kMostDevices = 64;

/// So that workspaces can be had on the device: its pool keeps what was given back. False: the driver refused.
/// Precondition: no other thread calls it.
bool make_workspace_pool(int device);

/// The workspace of one call, in the stream's order: what is launched in the object's lifetime may use it.
class OwnWorkspace {
 public:
  OwnWorkspace() = default;
  OwnWorkspace(const OwnWorkspace&) = delete;
  OwnWorkspace& operator=(const OwnWorkspace&) = delete;
  ~OwnWorkspace();

  /// At least `bytes`, aligned to 256; else its CUresult. Precondition: make_workspace_pool(device).
  int allocate(int device, std::size_t bytes, Stream stream);
  [[nodiscard]] void* memory() const { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(memory_)); }

 private:
  std::uint64_t memory_ = 0;  // CUdeviceptr
  Stream stream_ = nullptr;
};

}  // namespace pgtune::preload

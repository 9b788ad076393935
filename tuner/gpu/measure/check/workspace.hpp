// SPDX-License-Identifier: MIT
// A variant's workspace and the memory around it that it must leave alone.
#pragma once

#include <cstdint>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/check/guarded_memory.hpp"

namespace pgtune::gpu {

class Workspace {
 public:
  /// Of no bytes: nothing. `guarded`: nothing is mapped around its memory, and it may lie at either end of it;
  /// otherwise it lies between guards of kGuardBytes. `driver` must outlive the result.
  [[nodiscard]] static CudaResult<Workspace> allocate(const Driver& driver, std::int64_t bytes, bool guarded);

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// The workspace with what lies around it.
  [[nodiscard]] DeviceSpan memory() const;
  /// Where the workspace lies when it is at `edge`; the same for both where it is not guarded.
  [[nodiscard]] DeviceSpan at(MemoryEdge edge) const;

 private:
  std::int64_t bytes_ = 0;
  DeviceBuffer plain_;  ///< where it is not guarded
  GuardedMemory guarded_;
};

}  // namespace pgtune::gpu

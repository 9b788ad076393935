// SPDX-License-Identifier: MIT
// Where one set of operands lies in device memory.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/model/launch_plan.hpp"

namespace pgtune::gpu {

/// A device address in the form CUDA's functions take; the host never dereferences it.
[[nodiscard]] inline void* device_pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

struct DeviceSpan {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
};

/// Of GEMM c is d where beta == 0, and bias is d where the problem has none. Of another operation the buffers are in
/// its order, and of the named ones only the workspace means something.
struct OperandSet {
  DeviceSpan a, b, c, d, workspace, bias;
  std::vector<DeviceSpan> buffers = {};

  /// Throws std::out_of_range for a buffer there is none of.
  [[nodiscard]] DeviceSpan& operator[](Operand operand) {
    if (const auto buffer = buffer_of_operand(operand)) return buffers.at(*buffer);
    switch (operand) {
      case Operand::kA:
        return a;
      case Operand::kB:
        return b;
      case Operand::kC:
        return c;
      case Operand::kD:
        return d;
      case Operand::kBias:
        return bias;
      case Operand::kWorkspace:
      case Operand::kFirstBuffer:
        break;
    }
    return workspace;
  }
  [[nodiscard]] const DeviceSpan& operator[](Operand operand) const { return const_cast<OperandSet&>(*this)[operand]; }
};

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// The addresses of one set of operands in device memory.
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

/// The buffers are in the operation's order. An absent one has the address that kernels receive instead, or null.
struct OperandSet {
  std::vector<DeviceSpan> buffers = {};
  DeviceSpan workspace = {};

  [[nodiscard]] bool has(Operand operand) const {
    const auto buffer = buffer_of_operand(operand);
    return !buffer || *buffer < buffers.size();
  }
  /// Precondition: it has(operand).
  [[nodiscard]] DeviceSpan& operator[](Operand operand) {
    const auto buffer = buffer_of_operand(operand);
    return buffer ? buffers.at(*buffer) : workspace;
  }
  [[nodiscard]] const DeviceSpan& operator[](Operand operand) const { return const_cast<OperandSet&>(*this)[operand]; }
};

}  // namespace pgtune::gpu

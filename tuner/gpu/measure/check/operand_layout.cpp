// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/operand_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pgtune::gpu {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// A buffer to be placed.
struct Placed {
  std::string name;
  bool is_result = false;
  Extent* extent = nullptr;
};

/// Puts the buffers one behind the other with a guard around each.
void place(const std::vector<Placed>& buffers, OperandLayout& layout) {
  std::int64_t end = 0;
  const Placed* previous = nullptr;
  for (const Placed& buffer : buffers) {
    Extent& extent = *buffer.extent;
    extent.offset = ceil_div(end + kGuardBytes, kBufferAlignment) * kBufferAlignment;
    const std::string place = previous == nullptr ? fmt::format("before {}", buffer.name)
                                                  : fmt::format("between {} and {}", previous->name, buffer.name);
    layout.guards.push_back({place, buffer.is_result, {end, extent.offset - end}});
    end = extent.offset + extent.bytes;
    previous = &buffer;
  }
  layout.copy_bytes = ceil_div(end + kGuardBytes, kBufferAlignment) * kBufferAlignment;
  layout.guards.push_back(
      {fmt::format("after {}", previous->name), previous->is_result, {end, layout.copy_bytes - end}});
}

}  // namespace

OperandSet OperandLayout::at(std::uint64_t copy_address) const {
  OperandSet set;
  for (const Extent& buffer : buffers)
    set.buffers.push_back(buffer.bytes == 0
                              ? DeviceSpan{}
                              : DeviceSpan{copy_address + static_cast<std::uint64_t>(buffer.offset), buffer.bytes});
  return set;
}

OperandLayout operand_layout(const OperationProblem& operation) {
  OperandLayout layout;
  for (const OperationBuffer& buffer : operation.buffers) layout.buffers.push_back({0, buffer.bytes()});
  std::vector<Placed> buffers;
  for (std::size_t i = 0; i < operation.buffers.size(); ++i) {
    const OperationBuffer& buffer = operation.buffers[i];
    if (!buffer.absent) buffers.push_back({buffer.title(), buffer.is_output(), &layout.buffers[i]});
  }
  place(buffers, layout);
  put_in_place_of_absent(operation, layout.buffers);
  return layout;
}

std::int64_t copy_count(std::int64_t operand_bytes, std::int64_t copy_bytes, std::int64_t l2_bytes,
                        std::int64_t free_bytes) {
  const std::int64_t rotated = kRotatedL2s * l2_bytes;
  const std::int64_t wanted = operand_bytes < rotated ? ceil_div(rotated, operand_bytes) + 1 : 1;
  return std::clamp<std::int64_t>(std::min(wanted, free_bytes / 4 / copy_bytes), 1, kMaxCopies);
}

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/operand_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pgtune::gpu {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

DeviceSpan span_at(std::uint64_t base, const Extent& extent) {
  return {base + static_cast<std::uint64_t>(extent.offset), extent.bytes};
}

}  // namespace

OperandSet OperandLayout::at(std::uint64_t copy_address) const {
  OperandSet set{.a = span_at(copy_address, a),
                 .b = span_at(copy_address, b),
                 .c = span_at(copy_address, c),
                 .d = span_at(copy_address, d),
                 .workspace = {},
                 .bias = span_at(copy_address, bias)};
  for (const Extent& buffer : buffers) set.buffers.push_back(span_at(copy_address, buffer));
  return set;
}

namespace {

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

OperandLayout operation_layout(const OperationProblem& operation) {
  OperandLayout layout;
  for (const OperationBuffer& buffer : operation.buffers) layout.buffers.push_back({0, buffer.bytes()});
  std::vector<Placed> buffers;
  for (std::size_t i = 0; i < operation.buffers.size(); ++i)
    buffers.push_back({operation.buffers[i].name, operation.buffers[i].is_output(), &layout.buffers[i]});
  place(buffers, layout);
  return layout;
}

}  // namespace

OperandLayout operand_layout(const Problem& problem) {
  if (problem.operation) return operation_layout(*problem.operation);
  OperandLayout layout;
  const std::int64_t element = element_bytes(problem.dtype), element_c = element_bytes(problem.type_of_c());
  std::vector<Placed> buffers{{"A", false, &layout.a}, {"B", false, &layout.b}};
  layout.a.bytes = problem.stride_a() * problem.batch * element;
  layout.b.bytes = problem.stride_b() * problem.batch * element;
  layout.d.bytes = problem.stride_c() * problem.batch * element_c;
  if (problem.beta != 0) {
    layout.c.bytes = layout.d.bytes;
    buffers.push_back({"C", false, &layout.c});
  }
  if (problem.epilogue.bias) {
    layout.bias.bytes = problem.bias_bytes();
    buffers.push_back({"the bias", false, &layout.bias});
  }
  buffers.push_back({"D", true, &layout.d});
  place(buffers, layout);
  if (problem.beta == 0) layout.c = layout.d;
  if (!problem.epilogue.bias) layout.bias = layout.d;
  return layout;
}

std::int64_t copy_count(std::int64_t operand_bytes, std::int64_t copy_bytes, std::int64_t l2_bytes,
                        std::int64_t free_bytes) {
  if (operand_bytes >= 5 * l2_bytes) return 1;
  const std::int64_t wanted = ceil_div(4 * l2_bytes, operand_bytes) + 1;
  return std::clamp<std::int64_t>(std::min(wanted, free_bytes / 4 / copy_bytes), 1, kMaxCopies);
}

}  // namespace pgtune::gpu

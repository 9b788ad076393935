// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/operand_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pgtune::gpu {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

DeviceSpan span_at(std::uint64_t base, const Extent& extent) {
  return {base + static_cast<std::uint64_t>(extent.offset), extent.bytes};
}

}  // namespace

OperandSet OperandLayout::at(std::uint64_t copy_address) const {
  return {.a = span_at(copy_address, a),
          .b = span_at(copy_address, b),
          .c = span_at(copy_address, c),
          .d = span_at(copy_address, d),
          .workspace = {},
          .bias = span_at(copy_address, bias)};
}

OperandLayout operand_layout(const Problem& problem) {
  OperandLayout layout;
  const std::int64_t element = element_bytes(problem.dtype), element_c = element_bytes(problem.type_of_c());
  std::vector<std::pair<std::string, Extent*>> buffers{{"A", &layout.a}, {"B", &layout.b}};
  layout.a.bytes = problem.stride_a() * problem.batch * element;
  layout.b.bytes = problem.stride_b() * problem.batch * element;
  layout.d.bytes = problem.stride_c() * problem.batch * element_c;
  if (problem.beta != 0) {
    layout.c.bytes = layout.d.bytes;
    buffers.emplace_back("C", &layout.c);
  }
  if (problem.epilogue.bias) {
    layout.bias.bytes = problem.bias_bytes();
    buffers.emplace_back("the bias", &layout.bias);
  }
  buffers.emplace_back("D", &layout.d);

  std::int64_t end = 0;
  std::string previous;
  for (auto& [name, extent] : buffers) {
    extent->offset = ceil_div(end + kGuardBytes, kBufferAlignment) * kBufferAlignment;
    const std::string place =
        previous.empty() ? fmt::format("before {}", name) : fmt::format("between {} and {}", previous, name);
    layout.guards.push_back({place, name == "D", {end, extent->offset - end}});
    end = extent->offset + extent->bytes;
    previous = name;
  }
  layout.copy_bytes = ceil_div(end + kGuardBytes, kBufferAlignment) * kBufferAlignment;
  layout.guards.push_back({"after D", true, {end, layout.copy_bytes - end}});
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

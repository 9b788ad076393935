// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/result_element.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace pgtune::gpu {
namespace {

std::string place_of(const OperationProblem& operation, const OperationBuffer& buffer,
                     const std::vector<std::uint64_t>& coordinates) {
  if (buffer.first_index.empty()) return fmt::format("element ({}) of {}", fmt::join(coordinates, ","), buffer.title());
  const std::string text =
      fmt::format("element ({}) of {} {}", fmt::join(coordinates.begin() + 1, coordinates.end(), ","),
                  buffer.first_index, coordinates.front());
  return operation.only_output() == nullptr ? fmt::format("{} of {}", text, buffer.title()) : text;
}

}  // namespace

std::int64_t result_elements(const OperationProblem& operation) {
  std::int64_t elements = 0;
  for (const OperationBuffer& buffer : operation.buffers) {
    if (buffer.is_output()) elements += buffer.elements();
  }
  return elements;
}

ResultElement result_element(const OperationProblem& operation, std::uint64_t index) {
  const std::vector<OperationBuffer>& buffers = operation.buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const OperationBuffer& buffer = buffers[i];
    if (!buffer.is_output()) continue;
    const auto elements = static_cast<std::uint64_t>(buffer.elements());
    if (index >= elements) {
      index -= elements;
      continue;
    }
    std::vector<std::uint64_t> coordinates(buffer.extents.size());
    std::uint64_t at = 0;
    for (std::size_t d = coordinates.size(); d-- > 0;) {
      const auto extent = static_cast<std::uint64_t>(buffer.extents[d]);
      coordinates[d] = index % extent;
      index /= extent;
      at += coordinates[d] * static_cast<std::uint64_t>(buffer.strides[d]);
    }
    return {place_of(operation, buffer, coordinates), operand_of_buffer(i),
            at * static_cast<std::uint64_t>(element_bytes(buffer.type)), buffer.type, error_bound(buffer)};
  }
  return {"an element that is none", Operand::kWorkspace, 0, ElementType::kFloat32, {}};
}

}  // namespace pgtune::gpu

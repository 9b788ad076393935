// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/result_element.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace pgtune::gpu {
namespace {

ResultElement of_gemm(const Problem& problem, std::uint64_t index) {
  const auto columns = static_cast<std::uint64_t>(problem.n), rows = static_cast<std::uint64_t>(problem.m);
  const std::uint64_t row = index / columns, column = index % columns;
  const ElementType type = problem.type_of_c();
  const std::uint64_t in_d = row * static_cast<std::uint64_t>(problem.ldc) + column;
  return {fmt::format("element ({},{}) of batch {}", row % rows, column, row / rows), Operand::kD,
          in_d * static_cast<std::uint64_t>(element_bytes(type)), type, error_bound(problem)};
}

}  // namespace

std::int64_t result_elements(const Problem& problem) {
  if (!problem.operation) return problem.m * problem.n * problem.batch;
  std::int64_t elements = 0;
  for (const OperationBuffer& buffer : problem.operation->buffers) {
    if (buffer.is_output()) elements += buffer.elements();
  }
  return elements;
}

ResultElement result_element(const Problem& problem, std::uint64_t index) {
  if (!problem.operation) return of_gemm(problem, index);
  const std::vector<OperationBuffer>& buffers = problem.operation->buffers;
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
    return {fmt::format("element ({}) of {}", fmt::join(coordinates, ","), buffer.name), operand_of_buffer(i),
            at * static_cast<std::uint64_t>(element_bytes(buffer.type)), buffer.type, error_bound(buffer)};
  }
  return {"an element that is none", Operand::kWorkspace, 0, ElementType::kFloat32, {}};
}

}  // namespace pgtune::gpu

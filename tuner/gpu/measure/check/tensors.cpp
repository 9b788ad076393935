// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/tensors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace pgtune::gpu {
namespace {

template <typename Integer>
std::int64_t load(const std::byte* from) {
  Integer value = 0;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// Calls `visit` with each element, in the order of their indices.
template <typename Visit>
void for_elements(const OperationBuffer& buffer, std::span<const std::byte> stored, const Visit& visit) {
  const auto bytes = static_cast<std::size_t>(element_bytes(buffer.type));
  const auto at = buffer.type == ElementType::kInt8 ? load<std::int8_t> : load<std::int32_t>;
  std::array<std::int64_t, kMaxBufferRank> index{};
  const std::size_t rank = buffer.extents.size();
  for (std::int64_t element = 0; element < buffer.elements(); ++element) {
    std::size_t place = 0;
    for (std::size_t i = 0; i < rank; ++i) place += static_cast<std::size_t>(index.at(i) * buffer.strides[i]);
    visit(at(stored.subspan(place * bytes, bytes).data()));
    for (std::size_t i = rank; i-- > 0;) {
      if (++index.at(i) < buffer.extents[i]) break;
      index.at(i) = 0;
    }
  }
}

}  // namespace

double ErrorBound::allowed(double result, double scale) const {
  return per_scale * scale + per_result * std::abs(result) + absolute;
}

ErrorBound error_bound(const OperationBuffer& output) {
  return {output.error.per_scale, output.error.per_result, output.error.absolute, traits(output.type).largest,
          output.error.of_residual ? 1 : 0};
}

Tensor tensor_of(const OperationBuffer& buffer) {
  Tensor tensor;
  tensor.stored = buffer.stored_elements();
  tensor.type = buffer.type;
  std::vector<std::array<std::int64_t, 3>> dimensions;  // stride, extent, packed
  std::int64_t packed = 1;
  for (std::size_t i = buffer.extents.size(); i-- > 0;) {
    if (buffer.extents[i] > 1) dimensions.push_back({buffer.strides[i], buffer.extents[i], packed});
    packed *= buffer.extents[i];
  }
  std::sort(dimensions.begin(), dimensions.end(), std::greater<>());
  for (const auto& [stride, extent, of_packed] : dimensions) {
    // One that runs on in the next is one with it.
    if (tensor.rank > 0) {
      const auto last = static_cast<std::size_t>(tensor.rank - 1);
      if (tensor.stride.at(last) == extent * stride && tensor.packed.at(last) == extent * of_packed) {
        tensor.stride.at(last) = stride;
        tensor.packed.at(last) = of_packed;
        tensor.extent.at(last) *= extent;
        continue;
      }
    }
    const auto i = static_cast<std::size_t>(tensor.rank++);
    tensor.stride.at(i) = stride;
    tensor.extent.at(i) = extent;
    tensor.packed.at(i) = of_packed;
  }
  return tensor;
}

OperationBuffer matrix_of(ElementType type, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
  OperationBuffer matrix;
  matrix.type = type;
  matrix.extents = {rows, columns};
  matrix.strides = {ld, 1};
  return matrix;
}

std::vector<CountedBatch> pointer_batches(const OperationBuffer& array, std::uint64_t into) {
  const std::int64_t bytes = element_bytes(array.type);
  std::vector<CountedBatch> out;
  std::int64_t at = 0;
  for (const PointerRun& run : array.pointers->runs) {
    if (out.empty() || out.back().runs == static_cast<std::int64_t>(kBatchRuns)) out.emplace_back();
    auto& [runs, batch] = out.back();
    const auto i = static_cast<std::size_t>(runs++);
    batch.first.at(i) = into + static_cast<std::uint64_t>(run.first * bytes);
    batch.step.at(i) = run.step * bytes;
    batch.count.at(i) = run.count;
    batch.stride.at(i) = run.stride * bytes;
    batch.repeats.at(i) = run.repeats;
    batch.at.at(i) = at;
    at += run.count * run.repeats;
  }
  return out;
}

double count_elements(const OperationCount& count, const OperationBuffer& buffer, std::span<const std::byte> stored) {
  double sum = 0;
  std::int64_t largest = std::numeric_limits<std::int64_t>::min();
  std::int64_t found = 0;
  std::optional<std::int64_t> previous;
  for_elements(buffer, stored, [&](std::int64_t value) {
    sum += static_cast<double>(value);
    largest = std::max(largest, value);
    found += count.kind == CountKind::kAbove     ? value > count.bound
             : count.kind == CountKind::kNonzero ? value != 0
                                                 : previous.has_value() && value > *previous;
    previous = value;
  });
  if (count.kind == CountKind::kSum) return sum;
  return static_cast<double>(count.kind == CountKind::kMax ? largest : found);
}

}  // namespace pgtune::gpu

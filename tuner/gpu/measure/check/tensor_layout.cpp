// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/tensor_layout.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace pgtune::gpu {

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

}  // namespace pgtune::gpu

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
    const auto i = static_cast<std::size_t>(tensor.rank++);
    tensor.stride.at(i) = stride;
    tensor.extent.at(i) = extent;
    tensor.packed.at(i) = of_packed;
  }
  return tensor;
}

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// What CUDA calls the types of elements: the one table of it.
#pragma once

#include <cuda.h>
#include <library_types.h>

#include "tuner/model/element_type.hpp"

namespace pgtune::gpu {

/// As cuBLASLt takes it.
[[nodiscard]] cudaDataType_t cuda_type(ElementType type);
/// As a tensor map says it.
[[nodiscard]] CUtensorMapDataType tensor_map_type(TensorType type);

}  // namespace pgtune::gpu

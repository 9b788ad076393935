// SPDX-License-Identifier: MIT
// A tensor map for one operand's address.
#pragma once

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/model/launch_plan.hpp"

namespace pgtune::gpu {

/// Element strides are 1, nothing is interleaved, and elements out of bounds read as zero.
[[nodiscard]] CudaResult<CUtensorMap> encode_tensor_map(const Driver& driver, const TensorMapPlan& plan,
                                                        std::uint64_t address);

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// How fast host and GPU copy to each other.
#pragma once

#include <cstdint>

#include "pipeline/plan/machine.hpp"
#include "tuner/gpu/launch/cuda_failure.hpp"

namespace pgtune::gpu {

/// Medians of several copies of up to 256 MiB each, of the fastest of three attempts, pinning no more than
/// `pinned_limit_bytes`.
[[nodiscard]] CudaResult<pipeline::CopyRates> measure_copy_rates(std::int64_t pinned_limit_bytes);

}  // namespace pgtune::gpu

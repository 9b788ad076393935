// SPDX-License-Identifier: MIT
// The rates of copies between host and GPU, and the copy engines' turns when several streams are used.
#pragma once

#include <cstdint>

#include "pipeline/plan/machine.hpp"
#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"

namespace pgtune::gpu {

/// Medians of several copies of up to 256 MiB each, from the fastest of three attempts. Pins at most
/// `pinned_limit_bytes`.
[[nodiscard]] CudaResult<pipeline::CopyRates> measure_copy_rates(std::int64_t pinned_limit_bytes);

/// The same machine's `rates` with the turns of each use of streams (pipeline::with_turns), from the median of several
/// runs of a loop with nearly empty kernels. Pins at most `pinned_limit_bytes` and 512 MiB. If even small chunks, of 64
/// MiB in total, exceed that, nothing is measured and there are no turns. Includes batches if the driver has them.
[[nodiscard]] CudaResult<pipeline::CopyRates> measure_stream_turns(const pipeline::CopyRates& rates,
                                                                   std::int64_t pinned_limit_bytes,
                                                                   const HelperKernels& helpers, bool batched_copies);

}  // namespace pgtune::gpu

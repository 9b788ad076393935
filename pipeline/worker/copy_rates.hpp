// SPDX-License-Identifier: MIT
// How fast host and GPU copy to each other, and what copy engines lose between copies when streams take turns
// (pipeline/plan/stream_turns.hpp).
#pragma once

#include <cstdint>

#include "pipeline/plan/machine.hpp"
#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"

namespace pgtune::gpu {

/// Medians of several copies of up to 256 MiB each, of the fastest of three attempts, pinning no more than
/// `pinned_limit_bytes`.
[[nodiscard]] CudaResult<pipeline::CopyRates> measure_copy_rates(std::int64_t pinned_limit_bytes);

/// `rates`, which are those of the same machine, with the turns of each way to use streams (pipeline::with_turns), from
/// the median of several runs of a loop whose kernels do next to nothing. Pins no more than `pinned_limit_bytes`,
/// 512 MiB at most; where even small chunks, of 64 MiB in all, are more than that, nothing is measured and there are no
/// turns. With batches where the driver has them.
[[nodiscard]] CudaResult<pipeline::CopyRates> measure_stream_turns(const pipeline::CopyRates& rates,
                                                                   std::int64_t pinned_limit_bytes,
                                                                   const HelperKernels& helpers, bool batched_copies);

}  // namespace pgtune::gpu

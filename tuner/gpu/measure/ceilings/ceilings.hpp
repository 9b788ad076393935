// SPDX-License-Identifier: MIT
// Measures what this GPU can reach: DRAM, L2 and shared memory bandwidth, arithmetic of the CUDA cores and the tensor
// cores.
#pragma once

#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// The best of several samples of about 20 ms for each limit, after a warm-up of 0.1 s, or of 0.5 s for tensor cores:
/// their ceiling is what the power cap leaves. About 4 seconds in all. Frees its memory again. Errors: usage where too
/// little memory is free, environment where NVRTC does not know the GPU, internal where CUDA fails.
[[nodiscard]] Result<Ceilings> measure_ceilings(const DeviceInfo& device, const Driver& driver, SampleTimer& timer,
                                                cudaStream_t stream);

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// What every worker that launches has of its GPU: CUDA on it, the driver's entry points and a stream.
#pragma once

#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

struct GpuContext {
  Driver driver;
  Stream stream;
  int max_window_bytes = 0;  ///< the limit on an access policy window, 0 where there is none
};

/// Starts CUDA on the device with this ordinal and makes it the thread's. Errors (environment) name the remedy.
[[nodiscard]] Result<GpuContext> open_context(int ordinal);

}  // namespace pgtune::gpu

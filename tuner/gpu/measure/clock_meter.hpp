// SPDX-License-Identifier: MIT
// Measures the SM clock over a piece of work, on the GPU itself: each SM's time and clock counter before it and after.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"

namespace pgtune::gpu {

/// An SM's time and clock counter at one instant.
struct ClockReading {
  std::uint64_t time_ns = 0, clocks = 0;
};

/// Mean clock in Hz of the SMs that were read both times; 0 where there is none.
[[nodiscard]] double mean_clock_hz(const std::vector<ClockReading>& before, const std::vector<ClockReading>& after);

class ClockMeter {
 public:
  /// Enqueues nothing, and every mean is 0.
  ClockMeter() = default;
  /// `kernels` must outlive the meter.
  [[nodiscard]] static CudaResult<ClockMeter> create(const HelperKernels& kernels, int sm_count);

  // Each enqueues into `stream`, in this order around the work.
  [[nodiscard]] CudaResult<> clear(cudaStream_t stream) const;
  [[nodiscard]] CudaResult<> read_before(cudaStream_t stream) const;
  [[nodiscard]] CudaResult<> read_after(cudaStream_t stream) const;
  /// mean_clock_hz() of the two readings, which must have been waited for.
  [[nodiscard]] CudaResult<double> mean_hz() const;

 private:
  const HelperKernels* kernels_ = nullptr;
  std::size_t sm_count_ = 0;
  DeviceBuffer readings_;  ///< those before the work, then those after it
};

}  // namespace pgtune::gpu

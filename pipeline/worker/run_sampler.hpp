// SPDX-License-Identifier: MIT
// Samples of whole runs of a pipeline: how long they take, and at which clock.
#pragma once

#include <chrono>

#include "pipeline/worker/loaded_pipeline.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"

namespace pgtune::gpu {

class RunSampler {
 public:
  /// `helpers` must outlive the sampler; `stream` is where clocks are read.
  [[nodiscard]] static CudaResult<RunSampler> create(const HelperKernels& helpers, int sm_count, cudaStream_t stream);

  /// Whole runs for `sample_s` at least, and one at least. With `settle_s`, runs before it until the clock stands still
  /// (SettlingRule, with this lead-in); whatever ran since the last such sample counts as idling.
  [[nodiscard]] CudaResult<pipeline::RunSample> sample(LoadedPipeline& loaded, double sample_s, double settle_s);

 private:
  [[nodiscard]] CudaResult<double> settle(LoadedPipeline& loaded, double settle_s) const;

  ClockMeter clock_;
  cudaStream_t stream_ = nullptr;
  std::chrono::steady_clock::time_point settled_end_;  ///< of the last settled sample
};

}  // namespace pgtune::gpu

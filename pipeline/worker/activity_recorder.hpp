// SPDX-License-Identifier: MIT
// Records of what the GPU does for this process, while they are asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/plan/recorded_run.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

class ActivityRecorder {
 public:
  virtual ~ActivityRecorder() = default;

  /// From here on copies, fills and kernels are recorded, which costs each of them something.
  [[nodiscard]] virtual Result<void> start() = 0;
  /// What was recorded since start() or the last take(). Precondition: the GPU has done all that it was given.
  /// Errors (environment): also where records were lost.
  [[nodiscard]] virtual Result<std::vector<pipeline::Activity>> take() = 0;
  /// The end of start(). Never fails: what cannot be turned off ends with the process.
  virtual void stop() = 0;

  /// Now, by the clock of the records.
  [[nodiscard]] virtual Result<std::int64_t> now_ns() = 0;
  /// The number that records have for a stream (cudaStream_t) of the current context. CUPTI 13.0 refuses the legacy
  /// default stream, by null as by cudaStreamLegacy.
  [[nodiscard]] virtual Result<std::uint32_t> number_of(void* stream) = 0;
};

}  // namespace pgtune::gpu

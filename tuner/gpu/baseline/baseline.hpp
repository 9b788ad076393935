// SPDX-License-Identifier: MIT
// What variants are compared with on the current problem: one or several algorithms that are timed in the same rounds.
#pragma once

#include <string>
#include <vector>

#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

class Baseline {
 public:
  Baseline() = default;
  Baseline(const Baseline&) = delete;
  Baseline& operator=(const Baseline&) = delete;
  virtual ~Baseline() = default;

  [[nodiscard]] virtual const BaselineReport& report() const = 0;
  /// The algorithms beside report().algorithms as KnownBaseline::opaque.
  [[nodiscard]] virtual std::vector<std::string> opaque() const = 0;
  /// Series of report().algorithms[index], calibrated; index must be valid. Of a baseline that was taken over, that
  /// happens at the first call.
  [[nodiscard]] virtual CudaResult<LaunchSeries*> series(std::size_t index, SampleTimer& timer) = 0;
};

}  // namespace pgtune::gpu

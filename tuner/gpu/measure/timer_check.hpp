// SPDX-License-Identifier: MIT
// How finely a GPU's two clocks measure: what the shortest useful sample must be long against.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/util/result.hpp"

namespace pgtune::gpu {

struct TimerFacts {
  double event_floor_s = 0;       ///< median time between two events with nothing between them
  double globaltimer_step_s = 0;  ///< of the counter the SM clock is measured against
};

/// The smallest difference of two different readings, in their unit; 0 where there are not two.
[[nodiscard]] std::uint64_t smallest_step(std::vector<std::uint64_t> readings);

/// Measures both on GPU `ordinal`, in the calling thread's context; takes a fraction of a second, most of it for
/// compiling. Errors: what CUDA or NVRTC says.
[[nodiscard]] Result<TimerFacts> check_timers(int ordinal);

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// Counters of a problem's variants and of the baseline's algorithm that they are compared with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/model/energy_window.hpp"
#include "tuner/model/kernel_counters.hpp"
#include "tuner/model/variant.hpp"

namespace pgtune::tool {

struct ContenderCounters {
  std::optional<Variant> variant = {};  ///< nothing: the baseline
  std::string algorithm = {};           ///< of the baseline, BaselineReport::title(); empty: the best that is found
  std::optional<KernelCounters> counters = {};
  std::string missing = {};      ///< why there are none
  std::string measured_at = {};  ///< UTC, ISO 8601; empty: just now
  double time_s = 0;             ///< of a launch as pgtune timed it; 0: it did not
};

/// What an algorithm called so, BaselineReport::title(), belongs to: "cuBLASLt", "copy".
[[nodiscard]] inline std::string baseline_of(const std::vector<ContenderCounters>& contenders) {
  for (const ContenderCounters& contender : contenders) {
    if (!contender.variant && !contender.algorithm.empty())
      return contender.algorithm.substr(0, contender.algorithm.find_first_of(" :"));
  }
  return "the baseline";
}

struct CounterReport {
  std::vector<ContenderCounters> contenders = {};  ///< the baseline last
  std::string missing = {};                        ///< why nobody has any
  std::string baseline = "cuBLASLt";               ///< BaselineReport::name()
  std::optional<Ceilings> ceilings = {};           ///< of the GPU, where they are known
};

}  // namespace pgtune::tool

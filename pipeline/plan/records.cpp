// SPDX-License-Identifier: MIT
#include "pipeline/plan/records.hpp"

#include <fmt/format.h>

namespace pgtune::pipeline {

Result<void> RunSample::validate() const {
  if (!is_launch_count(runs) || !is_sample_time(host_s) || !is_sample_time(device_s))
    return fail(ErrorKind::kDatabase,
                fmt::format("a sample of {} runs in {} s, {} s between events", runs, host_s, device_s));
  return require_possible_numbers(*this, "a sample");
}

}  // namespace pgtune::pipeline

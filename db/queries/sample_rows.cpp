// SPDX-License-Identifier: MIT
#include "db/queries/sample_rows.hpp"

namespace pgtune::db {

SampleRow read_sample(Statement& statement) {
  SampleRow sample;
  statement >> sample.stage >> sample.round >> sample.position >> sample.launches >> sample.time_s >>
      sample.sm_clock_hz >> sample.graph >> sample.temperature_c >> sample.power_cap_s >> sample.thermal_s;
  return sample;
}

}  // namespace pgtune::db

// SPDX-License-Identifier: MIT
#include "db/queries/block_rows.hpp"

namespace pgtune::db {

BlockRow read_block(Statement& statement) {
  BlockRow block;
  statement >> block.stage >> block.round >> block.position >> block.launches >> block.time_s >> block.sm_clock_hz >>
      block.graph >> block.temperature_c >> block.power_cap_s >> block.thermal_s;
  return block;
}

}  // namespace pgtune::db

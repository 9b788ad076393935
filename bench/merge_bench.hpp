// SPDX-License-Identifier: MIT
// What it costs to merge the databases of many machines.
#pragma once

namespace pgtune::bench {

/// Searches `problems` problems on the recordings into each of `databases` files (that takes most of the time), merges
/// them and prints times and sizes. Throws std::runtime_error where a run of pgtune fails.
void bench_merge(int databases, int problems);

}  // namespace pgtune::bench

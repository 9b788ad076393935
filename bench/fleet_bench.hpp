// SPDX-License-Identifier: MIT
// How well many GPUs are used: searches with their recorded wall times, in simulated time.
#pragma once

namespace pgtune::bench {

/// Draws `problems` searches from the recordings of this build, hands them to 1, 2, 4, 8, ... `most_gpus` GPUs as
/// tool::Handout does, and prints for each number what part of the GPUs' time is idle until the last search ends: with
/// the longest expected first, as pgtune does it, in the order drawn, and with the longest known in advance. `seed`: of
/// the draw.
void bench_fleet(int problems, int most_gpus, unsigned seed);

}  // namespace pgtune::bench

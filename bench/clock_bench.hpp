// SPDX-License-Identifier: MIT
// What an expected settled time is worth for choosing who races at the power cap.
#pragma once

#include <string>
#include <vector>

namespace pgtune::bench {

/// For every settled race of `files` (none: the recordings of this build), with the clocks learnt from the races of
/// other shapes alone: by how much the best of the first 1, 2, 4 and 8 entrants in the order of screened times, of
/// screened cycles and of expected settled times takes longer than the
/// race's best; the last order as the mean of several seeds. Throws CommandError, db::Error.
void bench_settled_clocks(const std::vector<std::string>& files);

}  // namespace pgtune::bench

// SPDX-License-Identifier: MIT
// How fast spaces are walked, and variants costed, described and scored.
#pragma once

namespace pgtune::bench {

/// A line for each shipped template and a problem in each of its dtypes, preset and whole grid; one thread. Throws
/// CommandError.
void bench_spaces();

}  // namespace pgtune::bench

// SPDX-License-Identifier: MIT
// A search of a user's large space, up to its first proposals.
#pragma once

namespace pgtune::bench {

/// Lists a synthetic template's million variants, describes and scores them by trees fitted to 2000 of them, and asks
/// the strategy `model` for eight proposals; on all cores, each step's wall and CPU time. Throws CommandError.
void bench_million();

}  // namespace pgtune::bench

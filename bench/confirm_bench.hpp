// SPDX-License-Identifier: MIT
// What a search at the power cap claims: a final that only chooses with confirm rounds after it, and one that chooses
// and claims, on the simulated GPU whose truth is known.
#pragma once

namespace pgtune::bench {

/// Prints coverage and half width of the winner's interval, how far the declared winner is behind the faster of both
/// variants, and the samples taken, over `searches` each of both plans, for variants that differ by up to 0, 0.5, 1 and
/// 3 %.
void bench_confirm(int searches, double lead_in_s, double timed_s, double noise);

}  // namespace pgtune::bench

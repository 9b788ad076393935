// SPDX-License-Identifier: MIT
// Whether a final's intervals hold what they say: finals simulated at a power limit, of which the truth is known.
#pragma once

namespace pgtune::bench {

/// Prints, for fields of 4, 8 and 11, for 12, 24 and 48 rounds and with and without additional rounds, how many of
/// `finals` simulated finals' 95 % intervals hold the true ratio: by medians' intervals and by batch means'.
/// `lead_in_s` and `timed_s` are those of every sample, `noise` is a sample's relative standard deviation.
void bench_coverage(int finals, double lead_in_s, double timed_s, double noise);

}  // namespace pgtune::bench

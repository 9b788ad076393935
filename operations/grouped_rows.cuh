// SPDX-License-Identifier: MIT
// How the rows of a grouped product fall to its groups.
#pragma once

#include "operation.cuh"

/// Shares `rows` rows among `groups`, each of which gets between 0.7 and 1.3 times the mean, but for what rounding does
/// to small numbers. One thread.
__device__ inline void share_rows(int* offsets, i64 groups, i64 rows, u64 seed) {
  const auto weight = [&](i64 group) { return 1 + 0.3 * static_cast<double>(random_uniform(seed, group)); };
  double all = 0, before = 0;
  for (i64 group = 0; group < groups; ++group) all += weight(group);
  for (i64 group = 0; group < groups; ++group) {
    offsets[group] = static_cast<int>(static_cast<double>(rows) * (before / all));
    before += weight(group);
  }
  offsets[groups] = static_cast<int>(rows);
}

/// Gives each group between 0.7 and 1.3 times `mean` rows, at most `most`; each second one has as many more as the one
/// before has less, so that all together have `groups` times `mean`. One thread.
__device__ inline void vary_rows_about(int* rows, i64 groups, i64 mean, i64 most, u64 seed) {
  for (i64 group = 0; group < groups; ++group) rows[group] = static_cast<int>(mean);
  for (i64 group = 0; group + 1 < groups; group += 2) {
    const auto wanted =
        static_cast<i64>(0.3 * static_cast<double>(mean) * static_cast<double>(random_uniform(seed, group)));
    const i64 room = most - mean;
    const i64 more = wanted > room ? room : wanted < -room ? -room : wanted;
    rows[group] += static_cast<int>(more);
    rows[group + 1] -= static_cast<int>(more);
  }
}

// SPDX-License-Identifier: MIT
// In place of the header of this name.
#pragma once

#include <map>

namespace pgtune {

template <int kThreads>
void named_barrier_sync_unaligned(int barrier) {
  static std::map<int, int> arrived;
  const int last = (arrived[barrier]++ / kThreads + 1) * kThreads;
  Block::wait_until([=] { return arrived[barrier] >= last; });
}
template <int kThreads>
void named_barrier_sync(int barrier) {
  named_barrier_sync_unaligned<kThreads>(barrier);
}

}  // namespace pgtune

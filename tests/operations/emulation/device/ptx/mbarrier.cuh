// SPDX-License-Identifier: MIT
// In place of the header of this name. A wait that nothing ends ends the test.
#pragma once

#include <map>

#include "device/ptx/cluster.cuh"

namespace pgtune {

struct EmulatedBarrier {
  int arrivals = 0, missing = 0;  ///< of a phase, and of the present one
  long long bytes = 0;            ///< that were expected and have not come
  unsigned phase = 0;
};
inline EmulatedBarrier& emulated_barrier(unsigned barrier) {
  static std::map<unsigned, EmulatedBarrier> all;
  if (barrier % 8 != 0) std::abort();
  return all[barrier];
}
inline void complete(unsigned barrier) {
  EmulatedBarrier& of = emulated_barrier(barrier);
  if (of.missing < 0) std::abort();  // more have arrived than a phase has arrivals
  if (of.missing > 0 || of.bytes != 0) return;
  ++of.phase;
  of.missing = of.arrivals;
}

inline void mbarrier_init(unsigned barrier, unsigned arrivals) {
  emulated_barrier(barrier) = {static_cast<int>(arrivals), static_cast<int>(arrivals), 0, 0};
}
inline void mbarrier_init_fence() {}
inline void mbarrier_arrive(unsigned barrier) {
  --emulated_barrier(barrier).missing;
  complete(barrier);
}
inline void mbarrier_arrive_expect_tx(unsigned barrier, unsigned bytes) {
  emulated_barrier(barrier).bytes += bytes;
  mbarrier_arrive(barrier);
}
inline void mbarrier_wait(unsigned barrier, unsigned parity) {
  Block::wait_until([=] { return emulated_barrier(barrier).phase % 2 != parity; });
}
inline void mbarrier_arrive_remote(unsigned address_there) { mbarrier_arrive(address_there); }
inline void mbarrier_wait_cluster(unsigned barrier, unsigned parity) { mbarrier_wait(barrier, parity); }

}  // namespace pgtune

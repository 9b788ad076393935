// SPDX-License-Identifier: MIT
// In place of the header of this name: the upper bits of a shared address are the CTA's rank.
#pragma once

namespace pgtune {

inline unsigned cluster_rank() { return Block::rank(); }
inline void cluster_arrive() { Block::arrive_in_cluster(); }
inline void cluster_wait() { Block::wait_for_cluster(); }
inline void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}
inline unsigned map_shared_address(unsigned address, unsigned rank) {
  return address % Block::kDynamicShared + rank * Block::kDynamicShared;
}

}  // namespace pgtune

// SPDX-License-Identifier: MIT
// In place of the header of this name: loads take place at once, and count on their barrier, stores when their boxes
// are waited for.
#pragma once

#include "device/ptx/mbarrier.cuh"
#include "emulated_map.hpp"

namespace pgtune {

struct alignas(64) TensorMap {
  unsigned char opaque[128];
};

/// Where a byte of shared memory lies for TMA and the tensor cores: 16-byte pieces are swizzled within lines of
/// `span` bytes.
inline unsigned swizzled(unsigned address, unsigned span) {
  return span < 32 ? address : address ^ (address >> 7 & (span / 16 - 1)) << 4;
}

inline void tma_load(unsigned to, const TensorMap& map, int x, int y, int z, unsigned barrier) {
  EmulatedMap of;
  std::memcpy(&of, map.opaque, sizeof(of));
  // A GPU reports an illegal instruction, or never counts the bytes.
  if (to % 128 != 0 || x * of.element_bytes % 16 != 0) std::abort();
  unsigned done = 0;
  for (std::int64_t k = z; k < z + of.box[2]; ++k) {
    for (std::int64_t j = y; j < y + of.box[1]; ++j) {
      for (std::int64_t i = x; i < x + of.box[0]; ++i) {
        const bool inside = i >= 0 && i < of.dims[0] && j >= 0 && j < of.dims[1] && k >= 0 && k < of.dims[2];
        const unsigned char* const from = of.base + k * of.strides[1] + j * of.strides[0] + i * of.element_bytes;
        for (unsigned byte = 0; byte < of.element_bytes; ++byte, ++done)
          Block::dynamic_shared()[swizzled(to + done, static_cast<unsigned>(of.swizzle_bytes))] =
              inside ? from[byte] : 0;
      }
    }
  }
  emulated_barrier(barrier).bytes -= done;
  complete(barrier);
}

constexpr unsigned long long kEvictFirst = 0, kEvictLast = 0;

template <bool kShared, bool kHinted>
void tma_load_multicast(unsigned to, const TensorMap& map, int x, int y, int z, unsigned barrier, unsigned mask,
                        unsigned long long /*policy*/) {
  if (!kShared) return tma_load(to, map, x, y, z, barrier);
  for (unsigned rank = 0; mask >> rank != 0; ++rank)
    if (mask >> rank & 1) tma_load(map_shared_address(to, rank), map, x, y, z, map_shared_address(barrier, rank));
}

/// A thread's stores that wait for their turn: in groups, of which the last one is not committed yet.
inline std::vector<std::vector<std::function<void()>>>& emulated_stores() {
  static std::map<unsigned, std::vector<std::vector<std::function<void()>>>> of_threads;
  auto& groups = of_threads[Block::thread()];
  if (groups.empty()) groups.emplace_back();
  return groups;
}
template <bool kEvictsFirst>
void tma_store(const TensorMap& map, unsigned from, int x, int y, int z) {
  EmulatedMap of;
  std::memcpy(&of, map.opaque, sizeof(of));
  if (from % (8 * static_cast<unsigned>(of.swizzle_bytes)) != 0) std::abort();
  emulated_stores().back().push_back([=] {
    unsigned done = 0;
    for (std::int64_t j = y; j < y + of.box[1]; ++j) {
      for (std::int64_t i = x; i < x + of.box[0]; ++i) {
        const bool inside = i >= 0 && i < of.dims[0] && j >= 0 && j < of.dims[1];
        auto* const to =
            const_cast<unsigned char*>(of.base) + z * of.strides[1] + j * of.strides[0] + i * of.element_bytes;
        for (unsigned byte = 0; byte < of.element_bytes; ++byte, ++done) {
          const unsigned at = swizzled(from + done, static_cast<unsigned>(of.swizzle_bytes));
          if (inside) to[byte] = Block::dynamic_shared()[at];
        }
      }
    }
  });
}
inline void tma_store_commit() { emulated_stores().emplace_back(); }
template <int kPending>
void tma_store_wait_read() {
  auto& groups = emulated_stores();
  while (groups.size() > kPending + 1) {
    for (const auto& store : groups.front()) store();
    groups.erase(groups.begin());
  }
}

inline void prefetch_tensor_map(const TensorMap& /*map*/) {}
inline void fence_proxy_async() {}

}  // namespace pgtune

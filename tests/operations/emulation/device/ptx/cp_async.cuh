// SPDX-License-Identifier: MIT
// In place of the header of this name: copies take place as late as they may, when they are waited for.
#pragma once

#include "device/ptx/shared_memory.cuh"

namespace pgtune {

template <int kBytes, bool kBypassL1>
void cp_async_zero_fill(unsigned shared, const float* global, int valid_bytes, bool active) {
  if (!active) return;
  Block::copies().push_back([=] {
    std::memset(Block::dynamic_shared() + shared, 0, kBytes);
    std::memcpy(Block::dynamic_shared() + shared, global, static_cast<std::size_t>(valid_bytes));
  });
}

inline void cp_async_commit() { Block::commit_copies(); }

template <int kPending>
void cp_async_wait() {
  Block::wait_for_copies(kPending);
}

}  // namespace pgtune

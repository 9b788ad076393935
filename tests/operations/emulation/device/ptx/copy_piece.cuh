// SPDX-License-Identifier: MIT
// In place of the header of this name.
#pragma once

namespace pgtune {

inline void copy_piece_to_global(void* to, unsigned shared) {
  if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0 || shared % 16 != 0) std::abort();
  std::memcpy(to, Block::dynamic_shared() + shared, 16);
}

}  // namespace pgtune

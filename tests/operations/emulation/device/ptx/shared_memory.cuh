// SPDX-License-Identifier: MIT
// In place of the header of this name: addresses of shared memory are places in the block's dynamic part.
#pragma once

namespace pgtune {

inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(static_cast<const unsigned char*>(pointer) - Block::dynamic_shared());
}

inline unsigned load_shared(unsigned shared) {
  unsigned word;
  std::memcpy(&word, Block::dynamic_shared() + shared, sizeof(word));
  return word;
}

inline void load_shared(float& first, float& second, unsigned shared) {
  if (shared % 8 != 0) std::abort();
  std::memcpy(&first, Block::dynamic_shared() + shared, sizeof(first));
  std::memcpy(&second, Block::dynamic_shared() + shared + 4, sizeof(second));
}

}  // namespace pgtune

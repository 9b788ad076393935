// SPDX-License-Identifier: MIT
// Loads of 16 bytes whose address may be any multiple of an element.
#pragma once

namespace pgtune {

/// Loads an element of kBytes, or several neighbours of kBytes in all.
template <int kBytes>
__device__ __forceinline__ unsigned load_bytes(const char* from) {
  if constexpr (kBytes == 1) return *reinterpret_cast<const unsigned char*>(from);
  if constexpr (kBytes == 2) return *reinterpret_cast<const unsigned short*>(from);
  return *reinterpret_cast<const unsigned*>(from);
}

/// Loads 16 bytes of elements; elements beyond the first `bytes` become zero. Where all exist it loads words: the first
/// word includes bytes before `from`, which exist because an operand starts at a multiple of four bytes; the fifth
/// leaves out the bytes behind the piece.
template <int kElement>
__device__ __forceinline__ void load_piece(unsigned (&out)[4], const char* from, int bytes) {
  if (kElement < 4 && bytes == 16) {
    const unsigned before = reinterpret_cast<unsigned long long>(from) & (4 - kElement);
    unsigned word[5];
#pragma unroll
    for (int i = 0; i < 4; ++i) word[i] = load_bytes<4>(from - before + 4 * i);
    if constexpr (kElement == 2) {
      word[4] = load_bytes<2>(from + 14);
    } else {
      const unsigned last = load_bytes<1>(from + 15) << 16 | load_bytes<1>(from + 14) << 8 | load_bytes<1>(from + 13);
      word[4] = last >> (24 - 8 * before);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) out[i] = __funnelshift_r(word[i], word[i + 1], 8 * before);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      out[i] = 0;
#pragma unroll
      for (int byte = 0; byte < 4; byte += kElement) {
        if (4 * i + byte < bytes) out[i] |= load_bytes<kElement>(from + 4 * i + byte) << 8 * byte;
      }
    }
  }
}

}  // namespace pgtune

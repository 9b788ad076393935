// SPDX-License-Identifier: MIT
// Vectors of 1 to 16 bytes, loaded and stored at once, and as "streaming" where nobody reads them again: L2 then evicts
// them first.
#pragma once

namespace pgtune {

/// An unsigned type of so many bytes that is loaded and stored by one instruction.
template <int kBytes>
struct Bits;
template <>
struct Bits<1> {
  using Type = unsigned char;
};
template <>
struct Bits<2> {
  using Type = unsigned short;
};
template <>
struct Bits<4> {
  using Type = unsigned;
};
template <>
struct Bits<8> {
  using Type = uint2;
};
template <>
struct Bits<16> {
  using Type = uint4;
};

template <bool kStreaming, typename Type>
__device__ __forceinline__ Type load_bits(const Type* at) {
  return kStreaming ? __ldcs(at) : __ldg(at);
}

template <bool kStreaming, typename Type>
__device__ __forceinline__ void store_bits(Type* at, Type bits) {
  if constexpr (kStreaming) {
    __stcs(at, bits);
  } else {
    *at = bits;
  }
}

}  // namespace pgtune

// SPDX-License-Identifier: MIT
// What device headers take for granted, for a host compiler. Include it before them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#define __device__
#define __forceinline__ inline
// asm("...") is left out, asm volatile("...") an empty instruction: no function with them is called here, but clang
// compares their operands with the host's registers. Includes of the standard library stand before this.
#pragma clang diagnostic ignored "-Wkeyword-macro"
#define asm(...)
#define volatile(...) ("")

/// Declared for headers whose functions with it are never called here.
unsigned long long __cvta_generic_to_shared(const void* pointer);
unsigned __shfl_down_sync(unsigned mask, unsigned value, unsigned delta, int width);
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
struct float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
/// Bits `shift` % 32 to 31 more of the 64 of `low` and `high`.
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift & 31));
}
/// Bytes of the eight of `low` and `high`, one for each hexadecimal digit of `selector`.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  unsigned out = 0;
  for (unsigned i = 0; i < 4; ++i) out |= static_cast<unsigned>(both >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return out;
}

namespace pgtune {
using std::max;
using std::min;
}  // namespace pgtune

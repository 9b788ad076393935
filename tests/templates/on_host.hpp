// SPDX-License-Identifier: MIT
// What device headers take for granted, for a host compiler. Include it before them.
#pragma once

#include <algorithm>
#include <bit>

#define __device__
#define __forceinline__ inline

inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }

namespace pgtune {
using std::max;
using std::min;
}  // namespace pgtune

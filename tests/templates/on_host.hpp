// SPDX-License-Identifier: MIT
// What device headers take for granted, for a host compiler. Include it before them.
#pragma once

#include <algorithm>

#define __device__
#define __forceinline__ inline

namespace pgtune {
using std::max;
using std::min;
}  // namespace pgtune

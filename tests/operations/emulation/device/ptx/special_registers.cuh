// SPDX-License-Identifier: MIT
// In place of the header of this name.
#pragma once

namespace pgtune {

inline int thread_index() { return static_cast<int>(threadIdx.x); }
inline int lane_index() { return static_cast<int>(Block::thread() % 32); }

}  // namespace pgtune

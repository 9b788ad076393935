// SPDX-License-Identifier: MIT
// In place of the header of this name: there are registers enough.
#pragma once

namespace pgtune {

template <int kRegisters>
void register_dealloc() {}
template <int kRegisters>
void register_alloc() {}

}  // namespace pgtune

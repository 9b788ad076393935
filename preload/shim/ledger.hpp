// SPDX-License-Identifier: MIT
// The process's ledger (ledger_format.hpp): made at the first call, forgotten in a forked child, which makes its own.
#pragma once

#include "preload/shim/abi.hpp"
#include "preload/shim/ledger_format.hpp"

namespace pgtune::preload {

/// Whether calls are recorded: `pgtune run` started the program, and nothing went wrong since.
bool recording();

/// A function of that cuBLAS was called.
void mark_called(Major major);

/// Its place among kSlots.
std::uint32_t number_of(const Slot& slot);

/// The key's slot; null where the ledger is full or cannot be made. Any thread.
Slot* slot_of(const Key& key);

template <typename Number>
Number add(Number& counter, Number more) {
  return __atomic_add_fetch(&counter, more, __ATOMIC_RELAXED);
}

}  // namespace pgtune::preload

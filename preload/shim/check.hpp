// SPDX-License-Identifier: MIT
// Compares a kernel's result with cuBLAS's, on some elements: `pgtune run --check`.
#pragma once

#include "preload/kernels/table.hpp"
#include "preload/shim/abi.hpp"
#include "preload/shim/refusal.hpp"

namespace pgtune::preload {

struct Slot;

inline constexpr int kCheckedElements = 16;

/// One call that both compute. The program gets cuBLAS's result.
struct Check {
  Slot* slot = nullptr;  ///< null: nothing is checked
  PgtuneOperands operands = {};
  Arithmetic arithmetic = Arithmetic::kF32;
  void* scratch = nullptr;  ///< the kernel's D
  Stream stream = nullptr;
  double c[kCheckedElements];  ///< read where beta is not 0
};

/// Allocates the scratch, filled with NaN; false where there is no memory, or the types are not known.
bool begin_check(Check& check, Slot& slot, const PgtuneOperands& operands, Arithmetic arithmetic, Stream stream);
/// After the kernel's launch, before cuBLAS's call. False: the driver failed.
bool keep_c(Check& check);
/// Ends a check without a result.
void drop_check(Check& check);
enum class Verdict { kRight, kWrong, kNone };  ///< kNone: the results could not be read

/// After cuBLAS's call. Right: all checked elements are within twice the error bound of each other.
Verdict finish_check(Check& check);

}  // namespace pgtune::preload

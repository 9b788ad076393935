// SPDX-License-Identifier: MIT
// Answers calls with tuned kernels. Whether a call is served is a function of the call, the environment, the library of
// kernels and the GPU, never of calls before: results are the same in every run.
#pragma once

#include "preload/kernels/table.hpp"
#include "preload/shim/check.hpp"
#include "preload/shim/handles.hpp"
#include "preload/shim/ledger_format.hpp"

namespace pgtune::preload {

/// What a call has beside its key, in pgtune's orientation.
struct Given {
  PgtuneOperands operands;
  Workspace workspace;
  Stream stream;
  bool captured = false;    ///< it becomes part of a CUDA graph
  bool has_context = true;  ///< false before a thread's first call of CUDA's runtime
};

/// Whether there is a library of kernels.
bool serving();
/// The number of the thread's GPU; -1: there is none.
int current_device();

/// Whether the call was answered: `status` is its result. Counts in the slot. Otherwise `check` may be begun, which
/// finish() ends after cuBLAS's call, which may have refused to compute.
bool serve(Slot& slot, const Given& given, Check& check, int& status);
void finish(Check& check, int status);

void read_serving_environment();
void stop_serving_in_child();

}  // namespace pgtune::preload

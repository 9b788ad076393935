// SPDX-License-Identifier: MIT
// GPU time of single calls: a pair of events around the calls number 2, 4, 8, ... of a key, read when the GPU is
// past them. Nothing waits for the GPU.
#pragma once

#include "preload/shim/abi.hpp"
#include "preload/shim/ledger_format.hpp"

namespace pgtune::preload {

/// Between the two a call is launched, or refused. begin_sample() returns what end_sample() takes; negative: none.
int begin_sample(Slot& slot, Stream stream);
void end_sample(int sample, Stream stream, bool launched);

/// Stores what the GPU has finished. Called now and then, and at the end of the process.
void collect_samples();
void forget_samples();

}  // namespace pgtune::preload

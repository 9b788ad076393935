// SPDX-License-Identifier: MIT
// What the tensor cores accumulate: float32, or int32 for products of int8. A template that includes this hands on
// DTYPE.
#pragma once

namespace pgtune {

#if DTYPE == LABEL_int8
using Accumulator = int;
using TwoAccumulators = int2;
#define PGTUNE_ACCUMULATOR "r"
#else
using Accumulator = float;
using TwoAccumulators = float2;
#define PGTUNE_ACCUMULATOR "f"
#endif

}  // namespace pgtune

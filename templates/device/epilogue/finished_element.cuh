// SPDX-License-Identifier: MIT
// One element of D from its sum, in kernels that hold sums in float32. Wants the macros OUT_BYTES and DTYPE, and those
// of the fused epilogue.
#pragma once

#include "device/epilogue/fused_epilogue.cuh"

namespace pgtune {

constexpr Type16 kOutputType = DTYPE == LABEL_f16 ? Type16::kF16 : Type16::kBf16;
using Element = OutElement<OUT_BYTES>::Type;

/// Returns activation(alpha * sum + beta * C + bias). `c` is C's element, read where beta is not 0.
__device__ __forceinline__ float finished_value(float sum, const Element* c, float alpha, float beta, const void* bias,
                                                int column) {
  float value = kHasBias ? fmaf(alpha, sum, bias_of<OUT_BYTES, kOutputType>(bias, column)) : alpha * sum;
  if (beta != 0.0f) {
    if constexpr (OUT_BYTES == 4) {
      value = fmaf(beta, *c, value);
    } else {
      value = fmaf(beta, widen<kOutputType>(*c), value);
    }
  }
  return activated<kActivation>(value);
}

__device__ __forceinline__ Element narrowed(float value) {
  if constexpr (OUT_BYTES == 4) {
    return value;
  } else {
    return static_cast<Element>(pack<kOutputType>(value, 0.0f));
  }
}

/// Stores four neighbours; `to` is a multiple of their bytes.
__device__ __forceinline__ void store_four(Element* to, const float (&values)[4]) {
  if constexpr (OUT_BYTES == 4) {
    *reinterpret_cast<float4*>(to) = make_float4(values[0], values[1], values[2], values[3]);
  } else {
    *reinterpret_cast<uint2*>(to) =
        make_uint2(pack<kOutputType>(values[0], values[1]), pack<kOutputType>(values[2], values[3]));
  }
}

}  // namespace pgtune

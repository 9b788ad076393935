// SPDX-License-Identifier: MIT
// The fused epilogue: bias and activation. A template that includes this hands on HAS_BIAS and ACTIVATION.
#pragma once

#include "device/epilogue/out_element.cuh"

namespace pgtune {

enum class Activation { kNone, kRelu, kGelu, kSilu };

constexpr bool kHasBias = HAS_BIAS;
constexpr Activation kActivation = ACTIVATION == LABEL_relu   ? Activation::kRelu
                                   : ACTIVATION == LABEL_gelu ? Activation::kGelu
                                   : ACTIVATION == LABEL_silu ? Activation::kSilu
                                                              : Activation::kNone;

/// Returns x / (1 + 2^v). It uses two instructions of the special function unit, each good to a unit or two in the last
/// place of a float32; tanh.approx would be one, but keeps 11 bits and loses most of them where x is negative.
__device__ __forceinline__ float over_one_and_power(float x, float v) {
  float power, inverse;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(v));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
  return x * inverse;
}

/// Applies the activation. relu keeps NaN. gelu is the approximation with tanh, and tanh(u) = 2 / (1 + exp(-2 u)) - 1.
template <Activation kKind>
__device__ __forceinline__ float activated(float x) {
  constexpr float kLog2E = 1.44269504f, kScale = -2 * 0.797884561f * kLog2E;  // sqrt(2 / pi)
  if constexpr (kKind == Activation::kRelu) {
    float positive;
    asm("max.NaN.f32 %0, %1, 0f00000000;" : "=f"(positive) : "f"(x));
    return positive;
  } else if constexpr (kKind == Activation::kGelu) {
    return over_one_and_power(x, x * fmaf(kScale * 0.044715f, x * x, kScale));
  } else if constexpr (kKind == Activation::kSilu) {
    return over_one_and_power(x, -kLog2E * x);
  }
  return x;
}

/// Returns the bias of a column of D. It does not use __ldg: the compiler may move such loads up past everything, where
/// registers are short.
template <int kElementBytes, Type16 kType>
__device__ __forceinline__ float bias_of(const void* bias, int column) {
  if constexpr (kElementBytes == 4) {
    return static_cast<const float*>(bias)[column];
  } else {
    return widen<kType>(static_cast<const unsigned short*>(bias)[column]);
  }
}

/// Returns the bias of a column with an even index and of the next one.
template <int kElementBytes, Type16 kType>
__device__ __forceinline__ float2 bias_of_two(const void* bias, int column) {
  if constexpr (kElementBytes == 4) {
    return *reinterpret_cast<const float2*>(static_cast<const float*>(bias) + column);
  } else {
    const unsigned both = *reinterpret_cast<const unsigned*>(static_cast<const unsigned short*>(bias) + column);
    return make_float2(widen<kType>(static_cast<unsigned short>(both)),
                       widen<kType>(static_cast<unsigned short>(both >> 16)));
  }
}

}  // namespace pgtune

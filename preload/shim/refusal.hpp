// SPDX-License-Identifier: MIT
// Why a call is no problem that pgtune can tune and serve: a pure function of its key.
#pragma once

#include "preload/shim/abi.hpp"
#include "preload/shim/key.hpp"

namespace pgtune::preload {

enum class Refusal : std::uint8_t {
  kNone,
  kFunction,
  kType,
  kScalars,
  kScales,
  kEpilogue,
  kStrides,
  kEmpty,
  kSms,
  // Of serving, where the key alone does not decide. kFirstOfServing is the first.
  kNoKernel,
  kDenied,
  kMisaligned,
  kWorkspace,
  kContext,
  kDevice,
  kEnvironment,
  kTripped,
  kChecked,
};
inline constexpr Refusal kFirstOfServing = Refusal::kNoKernel;
inline constexpr int kServingRefusals = 9;
inline constexpr const char* kRefusalTexts[] = {
    "",
    "no pgtune problem: pointers of matrices, groups, or an order other than column-major",
    "types or arithmetic that pgtune has no kernels for",
    "alpha is not 1, or alpha and beta are in device memory",
    "scale factors, or exact sums of 8-bit floats",
    "epilogue other than bias, relu and gelu, or another attribute of cublasLtMatmul",
    "strides: a batch that is not packed, or C stored otherwise than D",
    "a size is 0",
    "limited to some of the GPU's SMs",
    "no kernel is tuned for it, or none that is faster than cuBLASLt",
    "denied (--deny)",
    "a pointer is aligned to less than the kernel needs",
    "the kernel needs more workspace than the program gives",
    "the thread has no CUDA context yet, or the stream's context is not the device's primary one",
    "no kernel is tuned for this GPU, or its driver is too old",
    "the environment asks for reproducible or emulated results (CUBLAS_WORKSPACE_CONFIG and others)",
    "after a failed launch or check, or in a child without exec()",
    "checked beside cuBLAS (--check)",
};

enum class Arithmetic : std::uint8_t { kF32, kTf32, kF16, kBf16, kE4m3, kE5m2, kInt8, kTf32x3, kOther };

/// What the call computes in. `tf32`: false where NVIDIA_TF32_OVERRIDE=0 makes cuBLAS ignore requests for tf32.
inline Arithmetic arithmetic_of(const Key& key, bool tf32) {
  const auto types = [&](int a, int b) { return key.type_a == a && key.type_b == b; };
  const auto gives = [&](int type) { return key.type_d == type; };
  constexpr int kModes = 15;  // the mode's higher bits are about sums of 16 bits, which pgtune never makes
  const int math = key.math & kModes;
  if (key.compute == kCompute32I) return types(kR8I, kR8I) && gives(kR32I) ? Arithmetic::kInt8 : Arithmetic::kOther;
  if (math != 0 && math != 1 && math != kTf32Math) return Arithmetic::kOther;
  if (types(kR32F, kR32F) && gives(kR32F)) {
    const bool fast = key.compute == kCompute32FFastTf32 || (key.compute == kCompute32F && math == kTf32Math);
    if (fast && tf32) return Arithmetic::kTf32;
    return fast || (key.compute == kCompute32F && math == 0) ? Arithmetic::kF32 : Arithmetic::kOther;
  }
  if (key.compute != kCompute32F) return Arithmetic::kOther;
  if (types(kR16F, kR16F) && (gives(kR16F) || gives(kR32F))) return Arithmetic::kF16;
  if (types(kR16BF, kR16BF) && (gives(kR16BF) || gives(kR32F))) return Arithmetic::kBf16;
  if (types(kE4M3, kE4M3) && gives(kR16BF)) return Arithmetic::kE4m3;
  if (types(kE5M2, kE4M3) && gives(kR16BF)) return Arithmetic::kE5m2;
  return Arithmetic::kOther;
}

inline Refusal refusal_of(const Key& key, bool tf32) {
  if (key.call >= Call::kBatched || (key.flags & kOtherOrder) != 0) return Refusal::kFunction;
  if (key.m <= 0 || key.n <= 0 || key.k <= 0 || key.batch <= 0) return Refusal::kEmpty;
  if (arithmetic_of(key, tf32) == Arithmetic::kOther) return Refusal::kType;
  if ((key.flags & (kScaled | kExactSums)) != 0) return Refusal::kScales;
  if ((key.flags & kDeviceScalars) != 0 || key.alpha != 1) return Refusal::kScalars;
  const int activation = key.epilogue & ~(kLtDefault | kLtBias);
  if ((key.flags & kUnusual) != 0 || (activation != 0 && activation != kLtRelu && activation != kLtGelu) ||
      key.bias_type != key.type_d)
    return Refusal::kEpilogue;
  if ((key.flags & kLimitedSms) != 0) return Refusal::kSms;
  const std::int64_t rows_a = key.trans_a != 0 ? key.k : key.m, rows_b = key.trans_b != 0 ? key.n : key.k;
  const bool packed = key.batch == 1 || (key.stride_a == rows_a * key.lda && key.stride_b == rows_b * key.ldb &&
                                         key.stride_c == key.m * key.ldc);
  if (!packed || (key.flags & kOtherC) != 0) return Refusal::kStrides;
  return Refusal::kNone;
}

}  // namespace pgtune::preload

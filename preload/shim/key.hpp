// SPDX-License-Identifier: MIT
// One GEMM as a program asked cuBLAS for it, in pgtune's orientation: D[M,N] = alpha op(A) op(B) + beta C, row-major.
// cuBLAS computes column-major matrices, and those read by rows are their transposes: its m is N here, its B is A.
// Shared by the preload library, which has no libstdc++, and by pgtune.
#pragma once

#include <cstdint>
#include <cstring>

namespace pgtune::preload {

/// The functions that are recorded, _64 counting as the same; kCallNames has their names.
enum class Call : std::uint8_t {
  kSgemm,
  kGemmEx,
  kSgemmStridedBatched,
  kGemmStridedBatchedEx,
  kLtMatmul,
  kDgemm,
  kCgemm,
  kZgemm,
  kHgemm,
  kStridedBatched,
  kBatched,
  kGrouped,
};
inline constexpr const char* kCallNames[] = {
    "cublasSgemm",
    "cublasGemmEx",
    "cublasSgemmStridedBatched",
    "cublasGemmStridedBatchedEx",
    "cublasLtMatmul",
    "cublasDgemm",
    "cublasCgemm",
    "cublasZgemm",
    "cublasHgemm",
    "cublas...gemmStridedBatched",
    "cublas...gemmBatched",
    "cublas...GroupedBatched",
};

/// Properties of a call that pgtune's problems lack.
enum Flag : std::uint16_t {
  kDeviceScalars = 1U << 0,  ///< alpha and beta are not in host memory, or one a row
  kConjugate = 1U << 1,
  kOtherC = 1U << 2,      ///< C is read and is stored otherwise than D
  kOtherOrder = 1U << 3,  ///< not column-major, planar or batched by pointers
  kScaled = 1U << 4,      ///< scale factors in device memory
  kExactSums = 1U << 5,   ///< 8-bit floats without FAST_ACCUM
  kUnusual = 1U << 6,     ///< any other attribute of cublasLtMatmul
  kLimitedSms = 1U << 7,
};

/// Compared and hashed as words: every byte has a value.
struct Key {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::int64_t lda = 0, ldb = 0, ldc = 0;                 ///< elements from row to row
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;  ///< elements from matrix to matrix; 0 without a batch
  float alpha = 0, beta = 0;  ///< 0 with kDeviceScalars or of other types than float and int32
  Call call = Call::kSgemm;
  std::uint8_t trans_a = 0, trans_b = 0;
  std::uint8_t type_a = 0, type_b = 0, type_d = 0;  ///< DataType
  std::uint8_t compute = 0;                         ///< ComputeType
  std::uint8_t math = 0;                            ///< MathMode of the handle
  std::uint16_t epilogue = 1;                       ///< LtEpilogue
  std::uint8_t bias_type = 0;                       ///< DataType; that of D without a bias
  std::uint8_t device = 0;                          ///< where calls are served: the GPU's number
  std::uint16_t flags = 0;                          ///< Flag
  std::uint16_t unused_too = 0;
};
inline constexpr int kKeyWords = 13;
static_assert(sizeof(Key) == kKeyWords * sizeof(std::uint64_t));

inline bool operator==(const Key& a, const Key& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

inline std::uint64_t hash(const Key& key) {
  std::uint64_t words[kKeyWords];
  std::memcpy(words, &key, sizeof words);
  std::uint64_t mixed = 0x9E3779B97F4A7C15U;
  for (const std::uint64_t word : words) {
    mixed = (mixed ^ word) * 0xD6E8FEB86659FD93U;
    mixed ^= mixed >> 32U;
  }
  return mixed;
}

}  // namespace pgtune::preload

// SPDX-License-Identifier: MIT
// What the library needs of the binary interfaces of cuBLAS 12 and 13 and of the CUDA driver. Written down here because
// the library is built without CUDA and serves both; tests/abi_test.cpp compares the numbers with NVIDIA's headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgtune::preload {

/// The cuBLAS that a call came for. Both may live in one process.
enum class Major : std::uint8_t { k12, k13 };

using Handle = void*;  ///< cublasHandle_t and cublasLtHandle_t
using Stream = void*;  ///< cudaStream_t and CUstream

enum Status : int { kSuccess = 0, kNotInitialized = 1, kExecutionFailed = 13 };
inline constexpr int kOutOfMemory = 2, kInvalidContext = 201;  ///< CUresult
enum Operation : int { kOpN = 0, kOpT = 1, kOpC = 2 };
enum MathMode : int { kPedanticMath = 2, kTf32Math = 3, kEmulatedBf16x9Math = 4, kEmulatedFixedPointMath = 8 };

/// cudaDataType_t.
enum DataType : int {
  kR32F = 0,
  kR64F = 1,
  kR16F = 2,
  kR8I = 3,
  kC32F = 4,
  kC64F = 5,
  kR32I = 10,
  kR16BF = 14,
  kE4M3 = 28,
  kE5M2 = 29,
};

enum ComputeType : int {
  kCompute16F = 64,
  kCompute32F = 68,
  kCompute32FPedantic = 69,
  kCompute64F = 70,
  kCompute32I = 72,
  kCompute32FFastTf32 = 77,
};

enum LtEpilogue : int { kLtDefault = 1, kLtRelu = 2, kLtBias = 4, kLtGelu = 32 };  ///< of which sums are used, too

/// cublasLtMatmulDescAttributes_t.
enum LtAttribute : int {
  kLtComputeType = 0,
  kLtPointerMode = 2,
  kLtTransA = 3,
  kLtTransB = 4,
  kLtTransC = 5,
  kLtFillMode = 6,
  kLtEpilogue = 7,
  kLtBiasPointer = 8,
  kLtBiasBatchStride = 10,
  kLtEpilogueAuxPointer = 11,
  kLtSmCountTarget = 15,
  kLtAScalePointer = 17,
  kLtBScalePointer = 18,
  kLtCScalePointer = 19,
  kLtDScalePointer = 20,
  kLtAmaxDPointer = 21,
  kLtFastAccum = 25,
  kLtBiasDataType = 26,
  kLtDOutScalePointer = 36,
  kLtEmulationDescriptor = 38,
};

inline constexpr int kLtFull = 2;  ///< cublasFillMode_t: all of D is written

/// cublasLtMatrixLayoutAttribute_t.
enum LtLayoutAttribute : int {
  kLtType = 0,
  kLtOrder = 1,
  kLtRows = 2,
  kLtCols = 3,
  kLtLd = 4,
  kLtBatchCount = 5,
  kLtBatchStride = 6,
  kLtPlaneOffset = 7,
  kLtBatchMode = 8,
};

/// CUmemPoolProps, of memory on a device.
struct PoolProperties {
  int allocation_type = 1;  ///< pinned, as must be
  int handle_types = 0;
  int location_type = 1;  ///< a device
  int device = 0;
  void* security = nullptr;
  std::size_t most_bytes = 0;  ///< 0: as many as there are
  unsigned char rest[56] = {};
};
inline constexpr int kPoolReleaseThreshold = 4;  ///< CUmemPool_attribute

}  // namespace pgtune::preload

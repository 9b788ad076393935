// SPDX-License-Identifier: MIT
// The numbers of abi.hpp are NVIDIA's, and parameters of the runtime's graphs in entries.cpp.
#include "preload/shim/abi.hpp"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <type_traits>

namespace pgtune::preload {

#define SAME(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
SAME(kSuccess, CUBLAS_STATUS_SUCCESS);
SAME(kNotInitialized, CUBLAS_STATUS_NOT_INITIALIZED);
SAME(kExecutionFailed, CUBLAS_STATUS_EXECUTION_FAILED);
SAME(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
SAME(kOpN, CUBLAS_OP_N);
SAME(kOpT, CUBLAS_OP_T);
SAME(kOpC, CUBLAS_OP_C);
SAME(kPedanticMath, CUBLAS_PEDANTIC_MATH);
SAME(kTf32Math, CUBLAS_TF32_TENSOR_OP_MATH);
SAME(kR32F, CUDA_R_32F);
SAME(kR64F, CUDA_R_64F);
SAME(kR16F, CUDA_R_16F);
SAME(kR8I, CUDA_R_8I);
SAME(kC32F, CUDA_C_32F);
SAME(kC64F, CUDA_C_64F);
SAME(kR32I, CUDA_R_32I);
SAME(kR16BF, CUDA_R_16BF);
SAME(kE4M3, CUDA_R_8F_E4M3);
SAME(kE5M2, CUDA_R_8F_E5M2);
SAME(kCompute16F, CUBLAS_COMPUTE_16F);
SAME(kCompute32F, CUBLAS_COMPUTE_32F);
SAME(kCompute32FPedantic, CUBLAS_COMPUTE_32F_PEDANTIC);
SAME(kCompute64F, CUBLAS_COMPUTE_64F);
SAME(kCompute32I, CUBLAS_COMPUTE_32I);
SAME(kCompute32FFastTf32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(kLtDefault, CUBLASLT_EPILOGUE_DEFAULT);
SAME(kLtRelu, CUBLASLT_EPILOGUE_RELU);
SAME(kLtBias, CUBLASLT_EPILOGUE_BIAS);
SAME(kLtGelu, CUBLASLT_EPILOGUE_GELU);
SAME(kLtGelu + kLtBias, CUBLASLT_EPILOGUE_GELU_BIAS);
SAME(kLtComputeType, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE);
SAME(kLtPointerMode, CUBLASLT_MATMUL_DESC_POINTER_MODE);
SAME(kLtTransA, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(kLtTransB, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(kLtTransC, CUBLASLT_MATMUL_DESC_TRANSC);
SAME(kLtFillMode, CUBLASLT_MATMUL_DESC_FILL_MODE);
SAME(kLtFull, CUBLAS_FILL_MODE_FULL);
SAME(kLtEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
SAME(kLtBiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(kLtBiasBatchStride, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE);
SAME(kLtEpilogueAuxPointer, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
SAME(kLtAScalePointer, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER);
SAME(kLtBScalePointer, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER);
SAME(kLtCScalePointer, CUBLASLT_MATMUL_DESC_C_SCALE_POINTER);
SAME(kLtDScalePointer, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER);
SAME(kLtAmaxDPointer, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER);
SAME(kLtFastAccum, CUBLASLT_MATMUL_DESC_FAST_ACCUM);
SAME(kLtBiasDataType, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
SAME(kLtSmCountTarget, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET);
SAME(kLtType, CUBLASLT_MATRIX_LAYOUT_TYPE);
SAME(kLtOrder, CUBLASLT_MATRIX_LAYOUT_ORDER);
SAME(kLtRows, CUBLASLT_MATRIX_LAYOUT_ROWS);
SAME(kLtCols, CUBLASLT_MATRIX_LAYOUT_COLS);
SAME(kLtLd, CUBLASLT_MATRIX_LAYOUT_LD);
SAME(kLtBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(kLtBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(kLtPlaneOffset, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET);
#if CUBLAS_VERSION >= 130000
SAME(kLtBatchMode, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE);
SAME(kEmulatedBf16x9Math, CUBLAS_FP32_EMULATED_BF16X9_MATH);
SAME(kLtDOutScalePointer, CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER);
#endif
#if CUBLAS_VERSION >= 130100
SAME(kEmulatedFixedPointMath, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH);
SAME(kLtEmulationDescriptor, CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR);
#endif
SAME(kPoolReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME(PoolProperties{}.allocation_type, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME(PoolProperties{}.location_type, CU_MEM_LOCATION_TYPE_DEVICE);
SAME(sizeof(PoolProperties), sizeof(CUmemPoolProps));
SAME(offsetof(PoolProperties, device), offsetof(CUmemPoolProps, location.id));
SAME(offsetof(PoolProperties, most_bytes), offsetof(CUmemPoolProps, maxSize));
#undef SAME

#define TAKES(name, ...) static_assert(std::is_same_v<decltype(&(name)), cudaError_t (*)(__VA_ARGS__)>)
TAKES(cudaGraphInstantiate, cudaGraphExec_t*, cudaGraph_t, unsigned long long);
TAKES(cudaGraphInstantiateWithFlags, cudaGraphExec_t*, cudaGraph_t, unsigned long long);
TAKES(cudaGraphInstantiateWithParams, cudaGraphExec_t*, cudaGraph_t, cudaGraphInstantiateParams*);
TAKES(cudaGraphExecUpdate, cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo*);
TAKES(cudaGraphDestroy, cudaGraph_t);
TAKES(cudaGraphLaunch, cudaGraphExec_t, cudaStream_t);
#undef TAKES

}  // namespace pgtune::preload

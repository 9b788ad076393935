// SPDX-License-Identifier: MIT
// What the tests' programs use of cuBLAS, and what the fakes of it implement.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
int cublasCreate_v2(void** handle);
int cublasDestroy_v2(void* handle);
int cublasSetStream_v2(void* handle, void* stream);
int cublasGetStream_v2(void* handle, void** stream);
int cublasSetWorkspace_v2(void* handle, void* workspace, std::size_t bytes);
int cublasSetPointerMode_v2(void* handle, int mode);
int cublasGetPointerMode_v2(void* handle, int* mode);
int cublasSetMathMode(void* handle, int mode);
int cublasGetMathMode(void* handle, int* mode);
int cublasGetSmCountTarget(void* handle, int* count);
int cublasSgemm_v2(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, int lda,
                   const void* b, int ldb, const void* beta, void* c, int ldc);
int cublasDgemm_v2_64(void* handle, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k,
                      const void* alpha, const void* a, std::int64_t lda, const void* b, std::int64_t ldb,
                      const void* beta, void* c, std::int64_t ldc);
int cublasGemmEx(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, int type_a,
                 int lda, const void* b, int type_b, int ldb, const void* beta, void* c, int type_c, int ldc,
                 int compute, int algo);
int cublasGemmStridedBatchedEx(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a,
                               int type_a, int lda, long long stride_a, const void* b, int type_b, int ldb,
                               long long stride_b, const void* beta, void* c, int type_c, int ldc, long long stride_c,
                               int batch, int compute, int algo);
/// Which of the fakes was called last, and how often any was: "12 cublasSgemm_v2".
const char* fake_cublas_called();

/// Attributes are 64-bit numbers; the fakes' layouts and descriptors are arrays of them.
struct FakeLtDescriptor {
  std::uint64_t values[64];
};
int cublasLtMatmulDescGetAttribute(const void* desc, int attribute, void* value, std::size_t bytes,
                                   std::size_t* written);
int cublasLtMatrixLayoutGetAttribute(const void* desc, int attribute, void* value, std::size_t bytes,
                                     std::size_t* written);
int cublasLtMatmul(void* handle, const void* desc, const void* alpha, const void* a, const void* a_layout,
                   const void* b, const void* b_layout, const void* beta, const void* c, const void* c_layout, void* d,
                   const void* d_layout, const void* algo, void* workspace, std::size_t workspace_bytes, void* stream);
const char* fake_cublaslt_called();
}

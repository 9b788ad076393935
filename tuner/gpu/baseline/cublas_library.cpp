// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/cublas_library.hpp"

#include <cublas_v2.h>
#include <fmt/format.h>

#include <array>

#include "tuner/gpu/libraries/forwarding.hpp"

namespace pgtune::gpu {
namespace {

constexpr const char* kGroupedProducts = "cublasGemmGroupedBatchedEx_64";

std::string lacks_grouped_products(void* handle) {
  if (function_of<cublasGemmGroupedBatchedEx_64>(handle, kGroupedProducts) != nullptr) return "";
  return "has no grouped products, which came with cuBLAS 12.5";
}

const Result<OpenedLibrary>& opened_cublas() {
  static const Result<OpenedLibrary> loaded = open_cuda_library(
      {"cuBLAS, whose grouped products kernels are compared with", "libcublas", "", lacks_grouped_products},
      library_places());
  return loaded;
}

/// Calls the library's function of the declared function's name and type, looked up once.
template <auto kDeclared, typename... Arguments>
cublasStatus_t forward_to_cublas(const char* name, Arguments... arguments) {
  static const auto target = function_of<kDeclared>(opened_cublas() ? opened_cublas()->handle : nullptr, name);
  return target == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : target(arguments...);
}

}  // namespace

const Result<OpenedLibrary>& load_cublas() { return opened_cublas(); }

std::string cublas_title() {
  std::array<int, 3> version{};
  constexpr std::array kParts{MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    if (cublasGetProperty(kParts.at(i), &version.at(i)) != CUBLAS_STATUS_SUCCESS) return "cuBLAS";
  }
  return fmt::format("cuBLAS {}.{}.{}", version[0], version[1], version[2]);
}

}  // namespace pgtune::gpu

using pgtune::gpu::forward_to_cublas;

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return forward_to_cublas<cublasCreate_v2>("cublasCreate_v2", handle);
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return forward_to_cublas<cublasDestroy_v2>("cublasDestroy_v2", handle);
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  return forward_to_cublas<cublasGetProperty>("cublasGetProperty", type, value);
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return forward_to_cublas<cublasSetStream_v2>("cublasSetStream_v2", handle, stream);
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  return forward_to_cublas<cublasSetWorkspace_v2>("cublasSetWorkspace_v2", handle, workspace, bytes);
}

cublasStatus_t cublasGemmGroupedBatchedEx_64(cublasHandle_t handle, const cublasOperation_t left[],
                                             const cublasOperation_t right[], const int64_t m[], const int64_t n[],
                                             const int64_t k[], const void* alpha, const void* const a[],
                                             cudaDataType_t type_a, const int64_t lda[], const void* const b[],
                                             cudaDataType_t type_b, const int64_t ldb[], const void* beta,
                                             void* const c[], cudaDataType_t type_c, const int64_t ldc[],
                                             int64_t groups, const int64_t sizes[], cublasComputeType_t compute) {
  return forward_to_cublas<cublasGemmGroupedBatchedEx_64>("cublasGemmGroupedBatchedEx_64", handle, left, right, m, n, k,
                                                          alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc,
                                                          groups, sizes, compute);
}

// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/cublaslt_library.hpp"

#include <cublasLt.h>
#include <fmt/format.h>

#include <string>

#include "tuner/gpu/libraries/cuda_library.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::size_t kMinimumVersion = 120800;

std::string objection(void* handle) {
  const auto version = function_of<cublasLtGetVersion>(handle, "cublasLtGetVersion");
  if (version == nullptr) return "is no cuBLASLt";
  return version() >= kMinimumVersion ? "" : fmt::format("is cuBLASLt {}, older than 12.8", version());
}

using CublasLt = LibraryCalls<load_cublaslt, CUBLAS_STATUS_NOT_INITIALIZED>;

}  // namespace

const Result<OpenedLibrary>& load_cublaslt() {
  static const Result<OpenedLibrary> loaded = open_cuda_library(
      {"cuBLASLt, the baseline every kernel is compared with", "libcublasLt", "", objection}, library_places());
  return loaded;
}

}  // namespace pgtune::gpu

using pgtune::gpu::CublasLt;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return CublasLt::call<cublasLtCreate>("cublasLtCreate", handle);
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return CublasLt::call<cublasLtDestroy>("cublasLtDestroy", handle);
}

const char* cublasLtGetStatusName(cublasStatus_t status) {
  return CublasLt::call<cublasLtGetStatusName>("cublasLtGetStatusName", status);
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  return CublasLt::call<cublasLtGetStatusString>("cublasLtGetStatusString", status);
}

size_t cublasLtGetVersion() { return CublasLt::call<cublasLtGetVersion>("cublasLtGetVersion"); }

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld) {
  return CublasLt::call<cublasLtMatrixLayoutCreate>("cublasLtMatrixLayoutCreate", layout, type, rows, cols, ld);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return CublasLt::call<cublasLtMatrixLayoutDestroy>("cublasLtMatrixLayoutDestroy", layout);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                size_t bytes) {
  return CublasLt::call<cublasLtMatrixLayoutSetAttribute>("cublasLtMatrixLayoutSetAttribute", layout, attribute, value,
                                                          bytes);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
  return CublasLt::call<cublasLtMatmulDescCreate>("cublasLtMatmulDescCreate", desc, compute, scale);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  return CublasLt::call<cublasLtMatmulDescDestroy>("cublasLtMatmulDescDestroy", desc);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  return CublasLt::call<cublasLtMatmulDescSetAttribute>("cublasLtMatmulDescSetAttribute", desc, attribute, value,
                                                        bytes);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return CublasLt::call<cublasLtMatmulPreferenceCreate>("cublasLtMatmulPreferenceCreate", preference);
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return CublasLt::call<cublasLtMatmulPreferenceDestroy>("cublasLtMatmulPreferenceDestroy", preference);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    size_t bytes) {
  return CublasLt::call<cublasLtMatmulPreferenceSetAttribute>("cublasLtMatmulPreferenceSetAttribute", preference,
                                                              attribute, value, bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* returned) {
  return CublasLt::call<cublasLtMatmulAlgoGetHeuristic>("cublasLtMatmulAlgoGetHeuristic", handle, desc, a, b, c, d,
                                                        preference, requested, results, returned);
}

cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale,
                                        cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cudaDataType_t d,
                                        int requested, int ids[], int* returned) {
  return CublasLt::call<cublasLtMatmulAlgoGetIds>("cublasLtMatmulAlgoGetIds", handle, compute, scale, a, b, c, d,
                                                  requested, ids, returned);
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale,
                                      cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cudaDataType_t d, int id,
                                      cublasLtMatmulAlgo_t* algorithm) {
  return CublasLt::call<cublasLtMatmulAlgoInit>("cublasLtMatmulAlgoInit", handle, compute, scale, a, b, c, d, id,
                                                algorithm);
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* result) {
  return CublasLt::call<cublasLtMatmulAlgoCheck>("cublasLtMatmulAlgoCheck", handle, desc, a, b, c, d, algorithm,
                                                 result);
}

cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute, const void* value,
                                                    size_t bytes) {
  return CublasLt::call<cublasLtMatmulAlgoConfigSetAttribute>("cublasLtMatmulAlgoConfigSetAttribute", algorithm,
                                                              attribute, value, bytes);
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute, void* value,
                                                    size_t bytes, size_t* written) {
  return CublasLt::call<cublasLtMatmulAlgoConfigGetAttribute>("cublasLtMatmulAlgoConfigGetAttribute", algorithm,
                                                              attribute, value, bytes, written);
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                 cublasLtMatmulAlgoCapAttributes_t attribute, void* value, size_t bytes,
                                                 size_t* written) {
  return CublasLt::call<cublasLtMatmulAlgoCapGetAttribute>("cublasLtMatmulAlgoCapGetAttribute", algorithm, attribute,
                                                           value, bytes, written);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  return CublasLt::call<cublasLtMatmul>("cublasLtMatmul", handle, desc, alpha, a, a_layout, b, b_layout, beta, c,
                                        c_layout, d, d_layout, algorithm, workspace, workspace_bytes, stream);
}

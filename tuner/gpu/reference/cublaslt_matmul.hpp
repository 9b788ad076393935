// SPDX-License-Identifier: MIT
// The current problem as cuBLASLt sees it, and the algorithms its heuristics offer.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

/// Keeps cuBLAS at the arithmetic it is asked for: NVIDIA_TF32_OVERRIDE and CUBLAS_EMULATE_* switch float32 products to
/// tensor cores whatever the caller says, and a reference computed so would not be the strict float32 it is compared
/// as. To be called before cuBLAS is used.
void forbid_reduced_precision();

struct CublasLtCandidate {
  int rank = 0;  ///< place in the heuristic list
  cublasLtMatmulAlgo_t algorithm{};
  std::int64_t workspace_bytes = 0;
  std::string description;  ///< configuration of the algorithm in cuBLASLt's numbers
};

class CublasLtMatmul {
 public:
  static constexpr std::int64_t kWorkspaceBytes = 64 << 20;
  static constexpr int kMaxCandidates = 32;

  /// Strict float32 (CUBLAS_COMPUTE_32F). Row-major operands are given as the transposed column-major problem,
  /// D^T = op(B)^T op(A)^T, which changes no byte in memory.
  [[nodiscard]] static CudaResult<std::unique_ptr<CublasLtMatmul>> create(const Problem& problem);

  /// Up to kMaxCandidates algorithms in the heuristics' order, without those that use tensor cores.
  [[nodiscard]] CudaResult<std::vector<CublasLtCandidate>> candidates() const;

  [[nodiscard]] CudaResult<> launch(const cublasLtMatmulAlgo_t& algorithm, const OperandSet& operands,
                                    cudaStream_t stream) const;

 private:
  using Context = Handle<cublasLtHandle_t, &cublasLtDestroy>;
  using Description = Handle<cublasLtMatmulDesc_t, &cublasLtMatmulDescDestroy>;
  using Layout = Handle<cublasLtMatrixLayout_t, &cublasLtMatrixLayoutDestroy>;
  using Preference = Handle<cublasLtMatmulPreference_t, &cublasLtMatmulPreferenceDestroy>;

  CublasLtMatmul() = default;
  [[nodiscard]] static CudaResult<Layout> create_layout(std::int64_t rows, std::int64_t columns, std::int64_t ld,
                                                        std::int64_t batch, std::int64_t stride);

  Context context_;
  Description description_;
  Layout left_, right_, result_;  ///< column-major: op(B)^T's, op(A)^T's and D^T's storage
  DeviceBuffer workspace_;
  float alpha_ = 1, beta_ = 0;
};

}  // namespace pgtune::gpu

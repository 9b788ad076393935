// SPDX-License-Identifier: MIT
// The baseline of GEMM: cuBLASLt's algorithms, checked and screened exactly like variants.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/baseline/baseline_operands.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"

namespace pgtune::gpu {

/// So many algorithms make a fair opponent; more only where they cost little.
inline constexpr std::size_t kMinAlgorithms = 16, kMaxAlgorithms = 32;

/// No further algorithm is tried: there are kMaxAlgorithms right ones, or kMinAlgorithms and looking for them has taken
/// longer than a user should notice.
[[nodiscard]] bool enough_algorithms(std::size_t right, double spent_s);

/// A candidate before it is checked and timed.
[[nodiscard]] AlgorithmReport described(const CublasLtCandidate& candidate);

/// Attempts what cuBLASLt's heuristics offer and, where fewer than kMinAlgorithms are in the report then, further
/// candidates until enough_algorithms(). Returns how many candidates there are. A failure of an attempt ends it.
[[nodiscard]] CudaResult<std::size_t> try_candidates(
    const CublasLtMatmul& matmul, const BaselineReport& report,
    const std::function<CudaResult<>(const CublasLtCandidate&)>& attempt);

/// The algorithms of try_candidates(). The checker is for the problem without an activation that cuBLASLt cannot fuse,
/// at its own size whichever is solved. Where launches copy operands, the best algorithm's product alone is screened as
/// well.
class CublasLtBaseline final : public Baseline {
 public:
  /// Without its algorithms; for BaselineOperands::enlarged() of the problem where cuBLASLt has none for the problem.
  [[nodiscard]] static Result<std::unique_ptr<Baseline>> begin(const Problem& problem, const BaselineParts& parts);
  [[nodiscard]] Result<void> find(const BaselineParts& parts) override;

  [[nodiscard]] static MemoryNeed memory(const Problem& problem);

 protected:
  [[nodiscard]] Result<std::unique_ptr<Launchable>> launchable(const BaselineParts& parts,
                                                               const std::string& opaque) override;

 private:
  CublasLtBaseline(const Problem& problem, const BaselineParts& parts)
      : Baseline(parts.buffers.rotation(), parts.device.gpu.stream.get()), problem_(problem) {}
  /// The best algorithm's product alone, or why it could not be timed. Precondition: finish(). A failure means that the
  /// context is lost.
  [[nodiscard]] CudaResult<OtherBaseline> time_product_alone(const BaselineParts& parts) const;

  Problem problem_;
  std::unique_ptr<CublasLtMatmul> matmul_;
  std::unique_ptr<OperandCopyKernels> copy_kernels_;  ///< null where no operand is copied
  std::unique_ptr<BaselineOperands> operands_;
};

}  // namespace pgtune::gpu

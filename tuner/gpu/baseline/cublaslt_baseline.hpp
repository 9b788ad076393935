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

/// This many algorithms make a fair opponent; more are tried only if that is cheap.
inline constexpr std::size_t kMinAlgorithms = 16, kMaxAlgorithms = 32;

/// Whether to stop trying algorithms: there are kMaxAlgorithms right ones, or kMinAlgorithms and the search has taken
/// noticeably long.
[[nodiscard]] bool enough_algorithms(std::size_t right, double spent_s);

/// A candidate before it is checked and timed.
[[nodiscard]] AlgorithmReport described(const CublasLtCandidate& candidate);

/// Tries the algorithms of cuBLASLt's heuristics. If the report then has fewer than kMinAlgorithms, tries further
/// candidates until enough_algorithms(). Returns the number of candidates. A failure of an attempt ends it.
[[nodiscard]] CudaResult<std::size_t> try_candidates(
    const CublasLtMatmul& matmul, const BaselineReport& report,
    const std::function<CudaResult<>(const CublasLtCandidate&)>& attempt);

/// The algorithms of try_candidates(). The checker is for the problem in its own size, without an activation that
/// cuBLASLt cannot fuse. If launches copy operands, the best algorithm's product alone is screened as well.
class CublasLtBaseline final : public Baseline {
 public:
  /// Creates it without its algorithms; for BaselineOperands::enlarged() of the problem if cuBLASLt has none for the
  /// problem.
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
  std::unique_ptr<OperandCopyKernels> copy_kernels_;  ///< null if no operand is copied
  std::unique_ptr<BaselineOperands> operands_;
};

}  // namespace pgtune::gpu

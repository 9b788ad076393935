// SPDX-License-Identifier: MIT
// The baseline of GEMM: cuBLASLt's algorithms, checked and screened exactly like variants.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/baseline/baseline_operands.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/baseline/operand_copy_kernels.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/launchable.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/model/records.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

/// One algorithm as a launchable, with the copies that it needs of the operands.
class BaselineLaunchable : public Launchable {
 public:
  /// Both must outlive the object.
  BaselineLaunchable(const CublasLtMatmul& matmul, const BaselineOperands& operands,
                     const cublasLtMatmulAlgo_t& algorithm)
      : matmul_(&matmul), operands_(&operands), algorithm_(algorithm) {}

  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override {
    return operands_->lay_out(copy, stream).and_then([&] { return multiply(copy, stream); }).and_then([&] {
      return operands_->return_result(copy, stream);
    });
  }
  [[nodiscard]] CudaResult<> reset(std::size_t copy, cudaStream_t stream) override {
    return operands_->poison(copy, stream);
  }

 protected:
  /// The product of what the baseline's operands hold.
  [[nodiscard]] CudaResult<> multiply(std::size_t copy, cudaStream_t stream) {
    return matmul_->launch(algorithm_, operands_->copies()[copy], stream);
  }

 private:
  const CublasLtMatmul* matmul_;
  const BaselineOperands* operands_;
  cublasLtMatmulAlgo_t algorithm_;
};

/// The product alone, of operands that were laid out before. To be timed, not checked: its D may be the baseline's own.
class ProductAlone : public BaselineLaunchable {
 public:
  using BaselineLaunchable::BaselineLaunchable;
  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override { return multiply(copy, stream); }
};

/// What a GEMM's baseline is made of. `checker` is for the problem without an activation that cuBLASLt cannot fuse, at
/// its own size whichever is solved; it and the texts need not outlive the baseline.
struct GemmBaselineParts {
  const Driver& driver;
  const OperandBuffers& buffers;
  Checker& checker;
  SampleTimer& timer;
  cudaStream_t stream;
  std::string library;       ///< "cuBLASLt 13.1.0"
  std::string architecture;  ///< NVRTC target of the kernels that copy operands
};

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

class CublasLtBaseline : public Baseline {
 public:
  /// Checks and screens the algorithms of cuBLASLt's heuristics and, where fewer than kMinAlgorithms of these are
  /// right, further ones until enough_algorithms(). Where launches copy operands, the best algorithm's product alone is
  /// screened as well. An error where cuBLASLt has none for the problem nor for BaselineOperands::enlarged() of it
  /// (usage), or none is right.
  [[nodiscard]] static Result<std::unique_ptr<CublasLtBaseline>> create(const Problem& problem,
                                                                        const GemmBaselineParts& parts);

  /// The baseline another process found for the same problem, GPU and library, without looking for it again: its best
  /// algorithm is checked, and warms the GPU up as create() does. Errors: what is known cannot be read, CUDA fails, or
  /// that algorithm is wrong now.
  [[nodiscard]] static Result<std::unique_ptr<CublasLtBaseline>> take_over(const Problem& problem,
                                                                           const GemmBaselineParts& parts,
                                                                           const protocol::KnownBaseline& known);

 private:
  using Baseline::Baseline;
  /// Of `problem` with everything but its algorithms.
  [[nodiscard]] static Result<std::unique_ptr<CublasLtBaseline>> begin(const Problem& problem,
                                                                       const GemmBaselineParts& parts);
  /// The best algorithm's product alone, or why it could not be timed. Precondition: finish(). A failure means that the
  /// context is lost.
  [[nodiscard]] CudaResult<OtherBaseline> time_product_alone(const Problem& problem,
                                                             const GemmBaselineParts& parts) const;

  std::unique_ptr<CublasLtMatmul> matmul_;
  std::unique_ptr<OperandCopyKernels> copy_kernels_;  ///< null where no operand is copied
  std::unique_ptr<BaselineOperands> operands_;
};

}  // namespace pgtune::gpu

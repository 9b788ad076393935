// SPDX-License-Identifier: MIT
// The baseline of an operation that is a matrix product, or one for each group: cuBLASLt's, checked and screened
// exactly like variants.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/baseline/product_launchable.hpp"
#include "tuner/gpu/baseline/product_operands.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

/// Of one product, cuBLASLt's algorithms as CublasLtBaseline tries them. Of groups four ways: the first algorithm of
/// the heuristics for each, and the fastest of several for each, either one after the other or side by side on some
/// streams, always as one graph.
class ProductBaseline : public Baseline {
 public:
  /// `product` is one of the baselines of the buffers' operation. What is given must outlive the result. Errors say why
  /// it is not available: (usage) the library has no algorithm, (internal) no algorithm is right, CUDA fails.
  [[nodiscard]] static Result<std::unique_ptr<ProductBaseline>> create(const LibraryProduct& product,
                                                                       const OperandBuffers& buffers, Checker& checker,
                                                                       SampleTimer& timer, const std::string& library,
                                                                       cudaStream_t stream);
  /// As another process found it, on the same data; its best way is checked. Errors: what is known cannot be read, CUDA
  /// fails, or that way is wrong now.
  [[nodiscard]] static Result<std::unique_ptr<ProductBaseline>> take_over(const LibraryProduct& product,
                                                                          const OperandBuffers& buffers,
                                                                          Checker& checker, SampleTimer& timer,
                                                                          const protocol::KnownBaseline& known,
                                                                          cudaStream_t stream);
  /// Bytes beside the operation's own: with each operand set, and once.
  [[nodiscard]] static std::int64_t copy_bytes(const LibraryProduct& product, const OperationProblem& problem) {
    return ProductOperands::copy_bytes(product, problem);
  }
  static constexpr std::size_t kStreams = 4;
  static constexpr std::int64_t kFixedBytes = kStreams * CublasLtContext::kWorkspaceBytes;

 private:
  using Candidates = std::map<std::int64_t, std::vector<CublasLtCandidate>>;

  using Baseline::Baseline;
  /// With everything but its algorithms.
  [[nodiscard]] static Result<std::unique_ptr<ProductBaseline>> begin(const LibraryProduct& product,
                                                                      const OperandBuffers& buffers,
                                                                      cudaStream_t stream);
  /// Adds the choice where it is right, else keeps why it is not. A failure means that the context is lost.
  [[nodiscard]] CudaResult<> attempt(ProductChoice choice, AlgorithmReport described, Checker& checker,
                                     SampleTimer& timer, cudaStream_t stream);
  /// The candidates of the only number of rows, and how many there are.
  [[nodiscard]] CudaResult<std::size_t> add_single(Checker& checker, SampleTimer& timer, cudaStream_t stream);
  [[nodiscard]] CudaResult<std::size_t> add_groups(Checker& checker, SampleTimer& timer, cudaStream_t stream);
  /// Of each number of rows the candidate that was fastest between the others' products, by its place.
  [[nodiscard]] CudaResult<std::map<std::int64_t, std::size_t>> fastest(const Candidates& candidates,
                                                                        cudaStream_t stream) const;
  /// What each of the products takes, launched one after the other; infinite where it cannot be launched.
  [[nodiscard]] CudaResult<std::vector<double>> time_products(
      const std::vector<GroupProduct>& products,
      const std::function<cublasLtMatmulAlgo_t(std::int64_t rows)>& algorithm_of, cudaStream_t stream) const;

  std::shared_ptr<const CublasLtContext> context_;
  std::unique_ptr<SideStreams> streams_;
  std::unique_ptr<ProductOperands> operands_;
  Matmuls matmuls_;
  std::string fault_;  ///< of the first choice that was not right
};

}  // namespace pgtune::gpu

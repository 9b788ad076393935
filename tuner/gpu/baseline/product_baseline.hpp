// SPDX-License-Identifier: MIT
// The baseline of an operation that is a matrix product, or one for each group: cuBLASLt's, checked and screened
// exactly like variants.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/baseline/product_operands.hpp"
#include "tuner/gpu/launch/handles.hpp"

namespace pgtune::gpu {

/// The algorithm for products of each number of rows, and the number of streams over which the groups' products are
/// dealt in turn.
struct ProductChoice {
  std::map<std::int64_t, cublasLtMatmulAlgo_t> algorithms;
  std::size_t streams = 1;

  /// "4 64:<hex> 68:<hex>", and back; nothing for other text.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static std::optional<ProductChoice> of_text(std::string_view text);
};

/// For one product, cuBLASLt's algorithms as CublasLtBaseline tries them. For groups, four ways: the heuristics' first
/// algorithm or the fastest of several for each, run one after the other or concurrently on some streams. A launch is
/// always one graph.
class ProductBaseline final : public Baseline {
 public:
  /// Creates it without its algorithms. `product` is one of the baselines of the buffers' operation. Errors say why it
  /// is not available: (usage) no group has rows; CUDA fails.
  [[nodiscard]] static Result<std::unique_ptr<Baseline>> begin(const LibraryProduct& product,
                                                               const BaselineParts& parts);
  ~ProductBaseline() override;
  [[nodiscard]] Result<void> find(const BaselineParts& parts) override;

  /// Bytes in addition to the operation's own: for each operand set, and once.
  [[nodiscard]] static std::int64_t copy_bytes(const LibraryProduct& product, const OperationProblem& problem) {
    return ProductOperands::copy_bytes(product, problem);
  }
  static constexpr std::size_t kStreams = 4;
  static constexpr std::int64_t kFixedBytes = kStreams * CublasLtContext::kWorkspaceBytes;

 protected:
  [[nodiscard]] Result<std::unique_ptr<Launchable>> launchable(const BaselineParts& parts,
                                                               const std::string& opaque) override;

 private:
  class SideStreams;
  class Products;
  /// The products by the number of their solved rows.
  using Matmuls = std::map<std::int64_t, std::unique_ptr<CublasLtMatmul>>;
  using Candidates = std::map<std::int64_t, std::vector<CublasLtCandidate>>;

  ProductBaseline(const LibraryProduct& product, const BaselineParts& parts);
  /// Adds the choice if it is right, else keeps the reason. A failure means that the context is lost.
  [[nodiscard]] CudaResult<> attempt(ProductChoice choice, AlgorithmReport described, const BaselineParts& parts);
  /// The candidates of the only number of rows, and their count.
  [[nodiscard]] CudaResult<std::size_t> add_single(const BaselineParts& parts);
  [[nodiscard]] CudaResult<std::size_t> add_groups(const BaselineParts& parts);
  /// For each number of rows, the index of the candidate that was fastest between the others' products.
  [[nodiscard]] CudaResult<std::map<std::int64_t, std::size_t>> fastest(const Candidates& candidates,
                                                                        cudaStream_t stream) const;
  /// The time of each of the products, launched one after the other; infinite if it cannot be launched.
  [[nodiscard]] CudaResult<std::vector<double>> time_products(
      const std::vector<GroupProduct>& products,
      const std::function<cublasLtMatmulAlgo_t(std::int64_t rows)>& algorithm_of, cudaStream_t stream) const;

  LibraryProduct product_;
  std::shared_ptr<const CublasLtContext> context_;
  std::unique_ptr<SideStreams> streams_;
  std::unique_ptr<ProductOperands> operands_;
  Matmuls matmuls_;
  std::string fault_;  ///< of the first choice that was not right
};

}  // namespace pgtune::gpu

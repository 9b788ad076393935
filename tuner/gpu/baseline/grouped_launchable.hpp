// SPDX-License-Identifier: MIT
// The products of all groups as one call of cuBLAS.
#pragma once

#include <cublas_v2.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tuner/gpu/baseline/product_operands.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/launchable.hpp"

namespace pgtune::gpu {

/// What the call is given: for each of the library's groups, which are the products with equally many rows, its
/// extents; and pointers of all products, group by group. Row-major operands are given as the transposed column-major
/// problem, so that its A is this B.
struct GroupedArguments {
  std::vector<cublasOperation_t> left, right;
  std::vector<std::int64_t> m, n, k, lda, ldb, ldc, sizes;
  std::vector<float> alpha, beta;
  std::vector<std::uint64_t> a, b, c;
};
/// `gemm_of`: the product of so many rows.
[[nodiscard]] GroupedArguments grouped_arguments(const std::vector<GroupProduct>& products,
                                                 const std::function<Problem(std::int64_t rows)>& gemm_of);

/// A handle of cuBLAS and memory for its kernels.
class CublasContext {
 public:
  static constexpr std::int64_t kWorkspaceBytes = 64 << 20;

  [[nodiscard]] static CudaResult<std::unique_ptr<CublasContext>> create();
  /// For calls that are enqueued on the stream.
  [[nodiscard]] CudaResult<cublasHandle_t> on(cudaStream_t stream) const;

 private:
  CublasContext() = default;

  Handle<cublasHandle_t, &cublasDestroy_v2> handle_;
  DeviceBuffer memory_;
};

/// Every launch is a CUDA graph of the call, made before anything is timed: what is checked is what is timed.
class GroupedLaunchable : public Launchable {
 public:
  /// What is given must outlive the result. Errors: the library does not take these products, or cannot be captured.
  [[nodiscard]] static CudaResult<std::unique_ptr<GroupedLaunchable>> create(const ProductOperands& operands,
                                                                             const CublasContext& context,
                                                                             cudaStream_t stream);

  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override;
  [[nodiscard]] CudaResult<> deliver(std::size_t copy, cudaStream_t stream) override {
    return operands_->deliver(copy, stream);
  }
  [[nodiscard]] CudaResult<> reset(std::size_t copy, cudaStream_t stream) override {
    return operands_->poison(copy, stream);
  }

 private:
  /// Of one operand set. The call reads the arguments on the host, perhaps when a graph is launched: they stay.
  struct Call {
    GroupedArguments arguments;
    DeviceBuffer pointers;  ///< of A, of B and of C, one behind the other
    GraphExec graph;
  };

  GroupedLaunchable(const ProductOperands& operands, const CublasContext& context)
      : operands_(&operands), context_(&context) {}
  [[nodiscard]] CudaResult<> add_call(std::size_t copy);
  [[nodiscard]] CudaResult<> enqueue(std::size_t copy, cudaStream_t stream) const;

  const ProductOperands* operands_;
  const CublasContext* context_;
  std::vector<std::unique_ptr<Call>> calls_;  ///< beside operands_->copies()
};

}  // namespace pgtune::gpu

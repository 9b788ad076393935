// SPDX-License-Identifier: MIT
// The baseline of an operation that is a product for each group: cuBLAS's grouped products, whose sizes come from the
// host, as one call. cuBLAS is loaded where an operation asks for it, as cuBLASLt is.
#pragma once

#include <cublas_v2.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/baseline/product_operands.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/libraries/cuda_library.hpp"

namespace pgtune::gpu {

/// Loads the library; call it before any cublas... function (those return CUBLAS_STATUS_NOT_INITIALIZED without it).
/// Errors (environment) name the cause and the remedy, such as one older than grouped products, which came with 12.5.
/// Safe to call again.
[[nodiscard]] const Result<OpenedLibrary>& load_cublas();

/// "cuBLAS 13.1.0"; "cuBLAS" where it cannot be loaded.
[[nodiscard]] std::string cublas_title();

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

class GroupedBaseline final : public Baseline {
 public:
  /// Without its algorithm. `product` is one of the baselines of the buffers' operation, and of groups. Errors say why
  /// it is not available: (environment) there is no such library, (usage) it has no such products, CUDA fails.
  [[nodiscard]] static Result<std::unique_ptr<Baseline>> begin(const LibraryProduct& product,
                                                               const BaselineParts& parts);
  [[nodiscard]] Result<void> find(const BaselineParts& parts) override;

  /// Bytes beside the operation's own: with each operand set, and once.
  [[nodiscard]] static std::int64_t copy_bytes(const LibraryProduct& product, const OperationProblem& problem);
  static constexpr std::int64_t kFixedBytes = CublasContext::kWorkspaceBytes;

 protected:
  [[nodiscard]] Result<std::unique_ptr<Launchable>> launchable(const BaselineParts& parts,
                                                               const std::string& opaque) override;

 private:
  explicit GroupedBaseline(const BaselineParts& parts)
      : Baseline(parts.buffers.rotation(), parts.device.gpu.stream.get()) {}

  std::unique_ptr<CublasContext> context_;
  std::unique_ptr<ProductOperands> operands_;
};

}  // namespace pgtune::gpu

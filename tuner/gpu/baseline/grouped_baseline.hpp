// SPDX-License-Identifier: MIT
// The baseline of an operation that is a product for each group: one call of cuBLAS's grouped products, with sizes from
// the host. cuBLAS, like cuBLASLt, is loaded only if an operation needs it.
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

/// "cuBLAS 13.1.0"; "cuBLAS" if it cannot be loaded.
[[nodiscard]] std::string cublas_title();

/// The call's arguments: the extents of each of the library's groups, which are the products with equal numbers of
/// rows, and the pointers of all products, group by group. Row-major operands become the transposed column-major
/// problem, so the library's A is this B.
struct GroupedArguments {
  std::vector<cublasOperation_t> left, right;
  std::vector<std::int64_t> m, n, k, lda, ldb, ldc, sizes;
  std::vector<float> alpha, beta;
  std::vector<std::uint64_t> a, b, c;
};
/// `gemm_of`: the product for a number of rows.
[[nodiscard]] GroupedArguments grouped_arguments(const std::vector<GroupProduct>& products,
                                                 const std::function<Problem(std::int64_t rows)>& gemm_of);

/// A handle of cuBLAS and memory for its kernels.
class CublasContext {
 public:
  static constexpr std::int64_t kWorkspaceBytes = 64 << 20;

  [[nodiscard]] static CudaResult<std::unique_ptr<CublasContext>> create();
  /// For calls on the stream.
  [[nodiscard]] CudaResult<cublasHandle_t> on(cudaStream_t stream) const;

 private:
  CublasContext() = default;

  Handle<cublasHandle_t, &cublasDestroy_v2> handle_;
  DeviceBuffer memory_;
};

class GroupedBaseline final : public Baseline {
 public:
  /// Creates it without its algorithm. `product` is one of the baselines of the buffers' operation, with groups. Errors
  /// say why it is not available: (environment) there is no such library, (usage) it has no such products, CUDA fails.
  [[nodiscard]] static Result<std::unique_ptr<Baseline>> begin(const LibraryProduct& product,
                                                               const BaselineParts& parts);
  [[nodiscard]] Result<void> find(const BaselineParts& parts) override;

  /// Bytes in addition to the operation's own: for each operand set, and once.
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

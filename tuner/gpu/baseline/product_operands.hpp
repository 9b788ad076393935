// SPDX-License-Identifier: MIT
// An operation's buffers as the matrices of a product, with what cuBLASLt wants laid out otherwise.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/baseline/product_rows.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"

namespace pgtune::gpu {

/// The product of one group.
struct GroupProduct {
  std::int64_t rows = 0;    ///< as solved
  MatmulOperands operands;  ///< without a workspace
};

/// How many rows groups have is read here, once, so a library whose sizes come from the host knows them without waiting
/// for the GPU. Scales are copied into the library's layout. With scales, where rows of a group are no multiple of four
/// or those of A or D no multiple of 16 bytes, A and D are the baseline's own, with zeros added. All that happens
/// before anything is timed, as if somebody had stored the operands for the library.
class ProductOperands {
 public:
  /// Bytes that go with one operand set, at most.
  [[nodiscard]] static std::int64_t copy_bytes(const LibraryProduct& product, const OperationProblem& problem);

  /// Waits for the stream, which fills `buffers`; these must outlive the result and hold the same inputs as long.
  /// `problem` has passed check_operation_problem(), and `product` is one of its baselines.
  [[nodiscard]] static Result<ProductOperands> create(const LibraryProduct& product, const OperationProblem& problem,
                                                      const OperandBuffers& buffers, cudaStream_t stream);

  /// Of each operand set those of its groups that have rows, in their order.
  [[nodiscard]] const std::vector<std::vector<GroupProduct>>& copies() const { return copies_; }
  /// What the library computes for a group with so many solved rows.
  [[nodiscard]] Problem gemm(std::int64_t rows) const;
  /// Rows of some group had to be rounded up.
  [[nodiscard]] bool has_added_rows() const { return added_rows_; }
  /// Enqueues poison into D of a copy, where it is the baseline's own.
  [[nodiscard]] CudaResult<> poison(std::size_t copy, cudaStream_t stream) const;
  /// Enqueues the copying of D's rows to the operation's D, where that is another.
  [[nodiscard]] CudaResult<> deliver(std::size_t copy, cudaStream_t stream) const;

 private:
  using Groups = std::vector<ProductGroup>;
  /// Memory of one operand set.
  struct Own {
    Groups groups;
    DeviceBuffer memory;
    DeviceSpan a, d, scales;
  };

  ProductOperands(const LibraryProduct& product, const OperationProblem& problem, const OperandBuffers& buffers)
      : product_(product), problem_(&problem), geometry_(product_geometry(product, problem)), buffers_(&buffers) {}
  [[nodiscard]] const OperationBuffer& buffer(std::int64_t index) const;
  /// Address of an element of that buffer in copy `copy`.
  [[nodiscard]] std::uint64_t address(std::size_t copy, std::int64_t index, std::int64_t element) const;
  template <typename T>
  [[nodiscard]] CudaResult<std::vector<T>> fetch(std::size_t copy, std::int64_t index) const;
  [[nodiscard]] Result<Groups> read_groups(std::size_t copy) const;
  /// Decides what is the baseline's own.
  [[nodiscard]] Result<void> choose_layout();
  [[nodiscard]] CudaResult<> allocate(Own& own) const;
  [[nodiscard]] CudaResult<> copy_rows(std::size_t copy, const Own& own, cudaStream_t stream) const;
  [[nodiscard]] CudaResult<> copy_scales(std::size_t copy, const Own& own, cudaStream_t stream) const;
  [[nodiscard]] std::vector<GroupProduct> group_products(std::size_t copy, const Own& own) const;
  [[nodiscard]] std::int64_t solved(const ProductGroup& group) const { return solved_rows(product_, group.rows); }

  LibraryProduct product_;
  const OperationProblem* problem_;
  ProductGeometry geometry_;
  const OperandBuffers* buffers_;
  Problem gemm_;  ///< of any rows
  bool own_a_ = false, own_d_ = false, added_rows_ = false;
  std::vector<Own> own_;  ///< beside copies_
  std::vector<std::vector<GroupProduct>> copies_;
};

}  // namespace pgtune::gpu

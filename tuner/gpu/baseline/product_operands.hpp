// SPDX-License-Identifier: MIT
// An operation's buffers as the matrices of a product, with what cuBLASLt wants laid out otherwise. The rows of groups
// and the layout of scales are pure functions.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/model/operation_problem.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// A group that has rows.
struct ProductGroup {
  std::int64_t index = 0;  ///< of its matrix in B
  std::int64_t first = 0;  ///< its first row in A and D; 0 where each group has a matrix of its own
  std::int64_t rows = 0;
};

/// In their order. `counts`: what the buffer of offsets or rows holds; empty where the product has neither. Errors
/// (internal): numbers that are none of rows.
[[nodiscard]] Result<std::vector<ProductGroup>> groups_with_rows(const LibraryProduct& product,
                                                                 const ProductGeometry& geometry,
                                                                 const std::vector<std::int32_t>& counts);

/// Rows of a group as it is given to the library: with block scales a multiple of four, as documented to be needed.
[[nodiscard]] std::int64_t solved_rows(const LibraryProduct& product, std::int64_t rows);

/// Appends the scales of a group's rows of A: for each block of K those of all solved rows, 0 for rows that it has not.
/// `stored`: what the buffer holds.
void append_scales_a(const OperationBuffer& buffer, const std::vector<float>& stored, const ProductGroup& group,
                     std::int64_t solved, std::vector<float>& out);
/// Appends the scales of a group's B: for each block of columns those of all blocks of K, and zeros up to a multiple of
/// four.
void append_scales_b(const OperationBuffer& buffer, const std::vector<float>& stored, std::int64_t group,
                     std::vector<float>& out);
/// Floats that the two append, for a group with so many solved rows; multiples of four.
[[nodiscard]] std::int64_t scales_of_a(const ProductGeometry& geometry, std::int64_t solved);
[[nodiscard]] std::int64_t scales_of_b(const ProductGeometry& geometry);

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

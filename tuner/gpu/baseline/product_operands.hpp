// SPDX-License-Identifier: MIT
// An operation's buffers as the matrices of a product, copied if cuBLASLt needs another layout. The functions for rows
// of groups and the layout of scales are pure.
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
  std::int64_t index = 0;  ///< index of its matrix in B
  std::int64_t first = 0;  ///< its first row in A and D; 0 if each group has its own matrix
  std::int64_t rows = 0;
};

/// In the order of the groups. `counts`: the content of the buffer of offsets or rows; empty if the product has
/// neither. Errors (internal): impossible numbers of rows.
[[nodiscard]] Result<std::vector<ProductGroup>> groups_with_rows(const LibraryProduct& product,
                                                                 const ProductGeometry& geometry,
                                                                 const std::vector<std::int32_t>& counts);

/// Rows of a group as passed to the library: with block scales a multiple of four, as its documentation requires.
[[nodiscard]] std::int64_t solved_rows(const LibraryProduct& product, std::int64_t rows);

/// Appends the scales of a group's rows of A: for each block of K those of all solved rows, 0 for padding rows.
/// `stored`: the buffer's content.
void append_scales_a(const OperationBuffer& buffer, const std::vector<float>& stored, const ProductGroup& group,
                     std::int64_t solved, std::vector<float>& out);
/// Appends the scales of a group's B: for each block of columns those of all blocks of K, and zeros up to a multiple of
/// four.
void append_scales_b(const OperationBuffer& buffer, const std::vector<float>& stored, std::int64_t group,
                     std::vector<float>& out);
/// The number of floats that the two append for a group with `rows` solved rows; multiples of four.
[[nodiscard]] std::int64_t scales_of_a(const ProductGeometry& geometry, std::int64_t solved);
[[nodiscard]] std::int64_t scales_of_b(const ProductGeometry& geometry);

/// The product of one group.
struct GroupProduct {
  std::int64_t rows = 0;    ///< as solved
  MatmulOperands operands;  ///< without a workspace
};

/// The numbers of rows are read here, once, so that a library with sizes from the host need not wait for the GPU.
/// Scales are copied into the library's layout. With scales, if a group's rows are no multiple of four or the rows of A
/// or D no multiple of 16 bytes, A and D are the baseline's own, padded with zeros. All of this happens before timing,
/// as if the operands had been stored for the library.
class ProductOperands {
 public:
  /// The maximum number of bytes for one operand set.
  [[nodiscard]] static std::int64_t copy_bytes(const LibraryProduct& product, const OperationProblem& problem);

  /// Waits for the stream, which fills `buffers`; these must outlive the result and hold the same inputs as long.
  /// `problem` has passed check_operation_problem(), and `product` is one of its baselines.
  [[nodiscard]] static Result<ProductOperands> create(const LibraryProduct& product, const OperationProblem& problem,
                                                      const OperandBuffers& buffers, cudaStream_t stream);

  /// For each operand set, its groups with rows, in order.
  [[nodiscard]] const std::vector<std::vector<GroupProduct>>& copies() const { return copies_; }
  /// The library's problem for a group with `rows` solved rows.
  [[nodiscard]] Problem gemm(std::int64_t rows) const;
  /// Whether some group's rows were rounded up.
  [[nodiscard]] bool has_added_rows() const { return added_rows_; }
  /// Enqueues poison into D of a copy, if it is the baseline's own.
  [[nodiscard]] CudaResult<> poison(std::size_t copy, cudaStream_t stream) const;
  /// Enqueues the copying of D's rows to the operation's D, if that is another buffer.
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
  /// Decides which buffers are the baseline's own.
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
  std::vector<Own> own_;  ///< parallel to copies_
  std::vector<std::vector<GroupProduct>> copies_;
};

}  // namespace pgtune::gpu

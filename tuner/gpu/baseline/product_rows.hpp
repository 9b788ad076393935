// SPDX-License-Identifier: MIT
// The rows of a product's groups, and its scales as cuBLASLt wants them. Pure.
#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace pgtune::gpu

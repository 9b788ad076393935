// SPDX-License-Identifier: MIT
// A baseline of an operation that is a matrix product: which of its buffers a library multiplies, as plain numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tuner/util/fields.hpp"
#include "tuner/util/named_enum.hpp"
#include "tuner/util/result.hpp"

namespace pgtune {

struct OperationProblem;
struct Problem;

/// The library that computes a baseline.
enum class BaselineLibrary {
  kCublasLt,
  kCublas,  ///< of groups alone: one call for all of them
};
/// "cublaslt", "cublas".
[[nodiscard]] EnumTable<BaselineLibrary> enum_table(BaselineLibrary library);

/// Elements along K (and of a scale of B along N) that have a scale in common.
inline constexpr std::int64_t kScaledBlock = 128;

/// D = A * B^T by a library: A is rows x K, B columns x K and D rows x columns, in any strides, or a batch of these. Of
/// groups, B has a matrix for each, and either A and D have too, of which `rows` says how many rows count, or the rows
/// of all follow one another in A and D, and `offsets` says where each group's begin. Members are indices of buffers.
struct LibraryProduct {
  BaselineLibrary library = BaselineLibrary::kCublasLt;
  std::int64_t a = 0, b = 0, d = 0;
  /// Factors of A's blocks of 1 x kScaledBlock elements and of B's blocks of kScaledBlock squared; both or none.
  std::optional<std::int64_t> scale_a = {}, scale_b = {};
  std::optional<std::int64_t> offsets = {};  ///< int32, one more than groups, the last the number of rows
  std::optional<std::int64_t> rows = {};     ///< int32, one a group

  [[nodiscard]] bool is_scaled() const { return scale_a.has_value(); }

  PGTUNE_FIELDS(library, a, b, d, scale_a, scale_b, offsets, rows)
  friend bool operator==(const LibraryProduct&, const LibraryProduct&) = default;
};

/// What the buffers of a product say of it. Strides are in elements; those of groups are 0 where there are none.
struct ProductGeometry {
  std::int64_t groups = 1;
  std::int64_t rows = 0;  ///< of A: all of them with offsets, else those that each group has room for
  std::int64_t columns = 0, depth = 0;
  std::int64_t row_a = 0, row_d = 0;                   ///< from a row to the next
  std::int64_t group_a = 0, group_b = 0, group_d = 0;  ///< from a group's matrix to the next one's
};
/// Precondition: the product is one of the problem's, which has passed check_operation_problem().
[[nodiscard]] ProductGeometry product_geometry(const LibraryProduct& product, const OperationProblem& problem);

/// The product of a group with `rows` rows, or all products of a batch, as a GEMM: types, extents, layout and leading
/// dimensions. Errors (usage): buffers, extents, strides or types that make no such product.
[[nodiscard]] Result<Problem> gemm_of(const LibraryProduct& product, const OperationProblem& problem,
                                      std::int64_t rows);

/// Errors (usage): members that name no buffers they could be, extents that disagree, and as gemm_of().
[[nodiscard]] Result<void> check_library_product(const LibraryProduct& product, const OperationProblem& problem);

}  // namespace pgtune

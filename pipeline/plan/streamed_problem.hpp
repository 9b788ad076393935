// SPDX-License-Identifier: MIT
// A product whose streaming operands are in host memory and pass through the GPU; the others are resident on the GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tuner/model/problem.hpp"
#include "tuner/util/fields.hpp"
#include "tuner/util/named_enum.hpp"

namespace pgtune::pipeline {

enum class Matrix { kA, kB, kD };
inline constexpr Matrix kMatrices[] = {Matrix::kA, Matrix::kB, Matrix::kD};
/// The size of arrays with one element per matrix.
[[nodiscard]] constexpr std::size_t index_of(Matrix matrix) { return static_cast<std::size_t>(matrix); }
/// "A", "B", "D".
[[nodiscard]] EnumTable<Matrix> enum_table(Matrix matrix);

struct StreamedProblem {
  Problem problem;
  bool a = false, b = false, d = false;  ///< the operands in host memory

  PGTUNE_FIELDS(problem, a, b, d)
  friend bool operator==(const StreamedProblem&, const StreamedProblem&) = default;

  [[nodiscard]] bool streams(Matrix matrix) const;
  /// The stored matrix: rows, columns and bytes of an element. Rows are packed.
  [[nodiscard]] std::int64_t rows(Matrix matrix) const;
  [[nodiscard]] std::int64_t columns(Matrix matrix) const;
  [[nodiscard]] std::int64_t element_bytes(Matrix matrix) const;
  [[nodiscard]] std::int64_t bytes(Matrix matrix) const {
    return rows(matrix) * columns(matrix) * element_bytes(matrix);
  }
  /// Bytes copied to the GPU and back.
  [[nodiscard]] std::int64_t bytes_in() const;
  [[nodiscard]] std::int64_t bytes_out() const { return d ? bytes(Matrix::kD) : 0; }
  /// "A,D"
  [[nodiscard]] std::string stream_text() const;
  /// "65536x4096x4096 bf16 nn, streaming A,D"
  [[nodiscard]] std::string title() const;
};

/// `stream` names operands, separated by commas: "A,D". Errors (usage): an unknown or repeated operand; a batch,
/// scalars other than 1 and 0, an epilogue, a chain or rows with padding, which pipelines do not support.
[[nodiscard]] Result<StreamedProblem> parse_streamed(const Problem& problem, std::string_view stream);

}  // namespace pgtune::pipeline

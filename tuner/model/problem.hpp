// SPDX-License-Identifier: MIT
// A problem: what is to be computed, an operation with sizes. GEMM's are members of Problem: shapes and strides in
// elements, row-major, BLAS terms. Those of any other operation are in OperationProblem. Workers receive GEMM as an
// OperationProblem, too (operation/gemm_operation.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tuner/model/dtype.hpp"
#include "tuner/model/epilogue.hpp"
#include "tuner/model/operation_problem.hpp"
#include "tuner/util/result.hpp"

namespace pgtune {

/// What a title says, for tables that say a part of it for several problems at once. E.g. "softmax bf16" and
/// "M=4096,N=8192"; of GEMM "bf16", "4096x4096x4096", "nt" and " batch 8 beta 1". No other operation has the last two.
struct TitleParts {
  std::string kind, shape, layout;
  std::string further;  ///< words and values, with a blank before each
};

/// By what tables sort problems: GEMM before other operations, which are sorted by name, each by dtype.
using KindOrder = std::tuple<bool, std::string, Dtype>;

/// A value that the expressions of templates may use.
struct ProblemFact {
  std::string_view name;  ///< lives as long as the problem
  std::int64_t value = 0;
};

/// D[M,N] = activation(alpha * op(A) * op(B) + beta * C + bias) for each of `batch` matrices; see Epilogue.
/// C and D have the same shape and leading dimension; with beta == 0, C is not read.
/// A is stored M x K (op n) or K x M (op t); B is stored K x N (n) or N x K (t).
struct Problem {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Dtype dtype = Dtype::kF32;
  std::optional<ElementType> output = {};  ///< of C and D where it is not the dtype's usual one; read type_of_c()
  bool trans_a = false, trans_b = false;
  std::int64_t lda = 0, ldb = 0, ldc = 0;  ///< elements between rows as stored; filled by with_default_strides
  double alpha = 1.0, beta = 0.0;
  Epilogue epilogue = {};
  /// Launches follow one another, each on a B of its own that none of them writes, while A, C and the bias may be what
  /// the one before has written: a launch may start, and read B, before the one before it has ended.
  bool chained = false;

  /// The problem as plain numbers. For GEMM these follow from the members above and are there for workers alone. For
  /// another operation they are always there, and of the members above only dtype means something (where
  /// OperationProblem::has_dtypes).
  OperationHandle operation = {};

  friend bool operator==(const Problem& a, const Problem& b);
  /// Whether the operation is kGemmName. Only code that reads or writes the members above has to ask; what follows is
  /// known of any problem.
  [[nodiscard]] bool is_gemm() const { return !operation || operation->name == kGemmName; }

  /// The operation's name, as templates have it.
  [[nodiscard]] std::string operation_name() const;
  /// The dimensions: of GEMM M, N, K and BATCH.
  [[nodiscard]] std::vector<NamedValue> sizes() const;
  /// What its templates' expressions may use: GEMM's names, or those of the operation.
  [[nodiscard]] std::vector<ProblemFact> facts() const;
  /// The type that an operand has in memory. Precondition: it is no workspace, and the problem has it.
  [[nodiscard]] ElementType type_of(Operand operand) const;
  /// The value of a float32 argument; for GEMM alpha and beta. 0 if there is none of the name.
  [[nodiscard]] double scalar(std::string_view name) const;
  /// Whether the reference, fills and tolerances are those of its operation's author. GEMM's are part of pgtune: they
  /// end, and have derived bounds.
  [[nodiscard]] bool has_own_reference() const;
  /// What its data in memory are called: "operands" of GEMM, else "buffers".
  [[nodiscard]] std::string_view data_word() const;
  /// What to choose where it does not fit: "a smaller shape or batch", of an operation "smaller sizes (M, N)".
  [[nodiscard]] std::string what_to_lessen() const;
  /// Whether its dtype means something.
  [[nodiscard]] bool has_dtype() const;
  /// What it has in common with problems of other sizes, for people: "bf16", "softmax bf16", "reduction".
  [[nodiscard]] std::string kind() const;
  [[nodiscard]] KindOrder kind_order() const;
  /// What is computed and compiled for has the same types and, of GEMM, epilogue: exported calls tell apart no more.
  [[nodiscard]] bool is_of_kind(const Problem& other) const;

  [[nodiscard]] std::int64_t rows_a() const { return trans_a ? k : m; }
  [[nodiscard]] std::int64_t columns_a() const { return trans_a ? m : k; }
  [[nodiscard]] std::int64_t rows_b() const { return trans_b ? n : k; }
  [[nodiscard]] std::int64_t columns_b() const { return trans_b ? k : n; }
  [[nodiscard]] ElementType type_of_c() const { return output.value_or(output_types(dtype).front()); }
  [[nodiscard]] bool has_usual_output() const { return type_of_c() == output_types(dtype).front(); }
  /// Elements from one matrix of the batch to the next (matrices are packed: rows * leading dimension).
  [[nodiscard]] std::int64_t stride_a() const { return rows_a() * lda; }
  [[nodiscard]] std::int64_t stride_b() const { return rows_b() * ldb; }
  [[nodiscard]] std::int64_t stride_c() const { return m * ldc; }
  [[nodiscard]] std::int64_t bias_bytes() const { return epilogue.bias ? n * element_bytes(type_of_c()) : 0; }
  /// Bytes of A, B and D (and of C where beta != 0), all batches, and of the bias; of an operation, of its buffers.
  [[nodiscard]] std::int64_t operand_bytes() const;
  /// Floating-point operations by the usual convention, 2*M*N*K*batch; integer ones count the same. An operation
  /// defines its own.
  [[nodiscard]] double flops() const;
  /// Bytes that a launch has to read and write at least.
  [[nodiscard]] double traffic_bytes() const;
  /// What a launch that takes so long reaches, in speed_unit().
  [[nodiscard]] double speed(double time_s) const;
  [[nodiscard]] std::string_view speed_unit() const;  ///< "TFLOP/s", or the operation's unit, such as "GB/s"
  [[nodiscard]] std::string layout() const;           ///< "nn", "nt", "tn" or "tt"
  [[nodiscard]] std::string shape() const;            ///< "4096x4096x4096"; of an operation "M=4096,N=8192"
  /// Canonical text; equal exactly when problems are equal. E.g. "f32 nn 4096x4096x4096 b1 ld4096,4096,4096 a1 b0".
  /// An output type that is not the dtype's usual one, an epilogue and a chain follow: "bf16 nn ... a1 b0 out f32
  /// epilogue bias+gelu chained".
  /// Of an operation "softmax bf16 M=4096,N=8192 3f2a...", the last being its content hash.
  [[nodiscard]] std::string key() const;
  /// For people: the key without what has its default value. E.g. "4096x4096x4096 f32 nn".
  [[nodiscard]] std::string title() const;
  [[nodiscard]] TitleParts title_parts() const;
};

/// A problem of an operation. Errors as check_operation_problem().
[[nodiscard]] Result<Problem> problem_of(OperationProblem operation, Dtype dtype);

/// The problem, which knows what was counted in its data (BaselineReport::counts): flops and bytes are then those of
/// the launches that were timed. It stays the same problem.
[[nodiscard]] Problem with_counts(Problem problem, const std::vector<NamedScalar>& counted);

/// Parses "MxNxK" (decimal, each at least 1; 'x' or 'X'). The error names the offending part and the remedy.
[[nodiscard]] Result<Problem> parse_shape(std::string_view text);
/// A shape, or with `first_m` a range of M whose largest the shape has.
struct ShapeRange {
  Problem shape;
  std::optional<std::int64_t> first_m = {};
};
/// The same, and "FIRST..LASTxNxK".
[[nodiscard]] Result<ShapeRange> parse_shape_range(std::string_view text);
/// Sets trans_a and trans_b from "nn", "nt", "tn" or "tt".
[[nodiscard]] Result<Problem> with_layout(Problem problem, std::string_view layout);
/// Replaces zero leading dimensions by the packed ones, then checks everything: leading dimensions not too small, every
/// element count and byte count inside 64 bits, finite scalars, an output type the dtype has; for int8 that scalars are
/// whole numbers, no sum can leave int32, and there is no epilogue.
[[nodiscard]] Result<Problem> with_default_strides(Problem problem);

}  // namespace pgtune

// SPDX-License-Identifier: MIT
#include "pipeline/plan/streamed_problem.hpp"

#include <fmt/format.h>

namespace pgtune::pipeline {
namespace {

constexpr EnumNames<Matrix, 3> kNames{{{Matrix::kA, "A"}, {Matrix::kB, "B"}, {Matrix::kD, "D"}}};

Result<void> require_plain(const Problem& problem) {
  const auto refuse = [](const char* what) {
    return fail(ErrorKind::kUsage, fmt::format("a pipeline computes D = A B and has no {}. Leave it out.", what));
  };
  if (problem.operation_name() != kGemmName)
    return fail(ErrorKind::kUsage,
                fmt::format("a pipeline computes a GEMM, and {} is another operation. Give a --shape.",
                            problem.operation_name()));
  if (problem.batch != 1) return refuse("batch");
  if (problem.alpha != 1 || problem.beta != 0) return refuse("alpha or beta");
  if (problem.epilogue.any()) return refuse("epilogue");
  if (problem.chained) return refuse("chain");
  if (problem.lda != problem.columns_a() || problem.ldb != problem.columns_b() || problem.ldc != problem.n)
    return refuse("padding between rows (leading dimensions)");
  return {};
}

}  // namespace

EnumTable<Matrix> enum_table(Matrix /*matrix*/) { return kNames; }

bool StreamedProblem::streams(Matrix matrix) const { return matrix == Matrix::kA ? a : matrix == Matrix::kB ? b : d; }

std::int64_t StreamedProblem::rows(Matrix matrix) const {
  return matrix == Matrix::kA ? problem.rows_a() : matrix == Matrix::kB ? problem.rows_b() : problem.m;
}

std::int64_t StreamedProblem::columns(Matrix matrix) const {
  return matrix == Matrix::kA ? problem.columns_a() : matrix == Matrix::kB ? problem.columns_b() : problem.n;
}

std::int64_t StreamedProblem::element_bytes(Matrix matrix) const {
  return matrix == Matrix::kD ? pgtune::element_bytes(problem.type_of_c()) : pgtune::element_bytes(problem.dtype);
}

std::int64_t StreamedProblem::bytes_in() const { return (a ? bytes(Matrix::kA) : 0) + (b ? bytes(Matrix::kB) : 0); }

std::string StreamedProblem::stream_text() const {
  std::string text;
  for (const Matrix matrix : kMatrices) {
    if (streams(matrix)) text += (text.empty() ? "" : ",") + std::string(to_string(matrix));
  }
  return text;
}

std::string StreamedProblem::title() const { return fmt::format("{}, streaming {}", problem.title(), stream_text()); }

Result<StreamedProblem> parse_streamed(const Problem& problem, std::string_view stream) {
  TRY(require_plain(problem));
  StreamedProblem streamed{problem};
  for (std::size_t begin = 0; begin <= stream.size();) {
    const std::size_t end = std::min(stream.find(',', begin), stream.size());
    const std::string_view word = stream.substr(begin, end - begin);
    const auto matrix = enumerator_of<Matrix>(word);
    if (!matrix)
      return fail(
          ErrorKind::kUsage,
          fmt::format("--stream '{}': '{}' is no operand. Give A, B and D or some of them after commas, such as "
                      "A,D.",
                      stream, word));
    bool& target = *matrix == Matrix::kA ? streamed.a : *matrix == Matrix::kB ? streamed.b : streamed.d;
    if (target)
      return fail(ErrorKind::kUsage, fmt::format("--stream '{}' names {} twice. Name it once.", stream, word));
    target = true;
    begin = end + 1;
  }
  return streamed;
}

}  // namespace pgtune::pipeline

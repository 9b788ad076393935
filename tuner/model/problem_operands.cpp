// SPDX-License-Identifier: MIT
#include "tuner/model/problem_operands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace pgtune {
namespace {

struct Piece {
  std::int64_t extent = 1, stride = 1;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// Dimensions of more than one element from the largest stride to the smallest, those joined that run on in each other.
std::vector<Piece> pieces_of(const OperationBuffer& buffer) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < buffer.extents.size(); ++i) {
    if (buffer.extents[i] > 1) pieces.push_back({buffer.extents[i], buffer.strides[i]});
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.stride > b.stride; });
  std::vector<Piece> joined;
  for (const Piece& piece : pieces) {
    if (!joined.empty() && joined.back().stride % piece.extent == 0 &&
        joined.back().stride / piece.extent == piece.stride) {
      joined.back() = {joined.back().extent * piece.extent, piece.stride};
    } else {
      joined.push_back(piece);
    }
  }
  return joined;
}

OperationBuffer matrix(const char* name, ElementType type, BufferRole role, std::vector<std::int64_t> extents,
                       std::vector<std::int64_t> strides) {
  OperationBuffer out;
  out.name = name;
  out.type = type;
  out.role = role;
  out.extents = std::move(extents);
  out.strides = std::move(strides);
  return out;
}

}  // namespace

std::vector<ProblemOperand> operands_of(const Problem& problem) {
  const Problem& p = problem;
  std::vector<ProblemOperand> out;
  if (!p.is_gemm()) {
    for (std::size_t i = 0; i < p.operation->buffers.size(); ++i)
      out.push_back({.operand = operand_of_buffer(i), .buffer = p.operation->buffers[i]});
    return out;
  }
  const ElementType type_c = p.type_of_c();
  out.push_back({Operand::kA, matrix("A", type_of_a(p.dtype), BufferRole::kIn, {p.batch, p.rows_a(), p.columns_a()},
                                     {p.stride_a(), p.lda, 1})});
  out.push_back({.operand = Operand::kB,
                 .buffer = matrix("B", type_of_b(p.dtype), BufferRole::kIn, {p.batch, p.rows_b(), p.columns_b()},
                                  {p.stride_b(), p.ldb, 1}),
                 .may_be_read_early = true});
  if (p.beta != 0)
    out.push_back({Operand::kC, matrix("C", type_c, BufferRole::kIn, {p.batch, p.m, p.n}, {p.stride_c(), p.ldc, 1})});
  if (p.epilogue.bias) out.push_back({Operand::kBias, matrix("bias", type_c, BufferRole::kIn, {p.n}, {1})});
  out.push_back({Operand::kD, matrix("D", type_c, BufferRole::kOut, {p.batch, p.m, p.n}, {p.stride_c(), p.ldc, 1})});
  return out;
}

bool are_same_elements(const OperationBuffer& a, const OperationBuffer& b) {
  return a.type == b.type && a.pointers == b.pointers && pieces_of(a) == pieces_of(b);
}

std::string elements_text(const OperationBuffer& buffer) {
  std::vector<std::int64_t> extents = buffer.extents;
  // One matrix needs no number of matrices.
  if (extents.size() > 2 && extents.front() == 1) extents.erase(extents.begin());
  std::string text = fmt::format("{} {}", buffer.type_text(), fmt::join(extents, "x"));
  if (buffer.stored_elements() != buffer.elements())
    text += fmt::format(", strides {}", fmt::join(buffer.strides, " and "));
  return text;
}

}  // namespace pgtune

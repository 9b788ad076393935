// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/baseline_operands.hpp"

#include <algorithm>

#include "tuner/gpu/baseline/cublaslt_types.hpp"

namespace pgtune::gpu {
namespace {

using ByteMatrix = HelperKernels::ByteMatrix;

constexpr std::int64_t kRowAlignment = 16;  // bytes, and elements of the only types it concerns

std::int64_t round_up_to(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

bool usable_as_is(const Problem& problem) {
  const CublasLtArithmetic& arithmetic = cublaslt_arithmetic(problem.dtype);
  if (!arithmetic.only_along_k) return true;
  return problem.k % arithmetic.k_multiple == 0 && !problem.trans_a && problem.trans_b &&
         problem.lda % kRowAlignment == 0 && problem.ldb % kRowAlignment == 0;
}

/// Bytes between rows of C and D.
std::int64_t row_bytes(const Problem& problem) { return problem.ldc * element_bytes(problem.type_of_c()); }

bool whole_multiples(const Problem& problem, std::int64_t of) {
  return problem.m % of == 0 && problem.n % of == 0 && problem.k % of == 0 && row_bytes(problem) % of == 0;
}

/// Bytes of what one operand set needs beside the problem's own, rounded up to the alignment of buffers; 0 where the
/// problem's serves.
struct OwnBytes {
  std::int64_t a = 0, b = 0, c = 0, d = 0, bias = 0;

  [[nodiscard]] std::int64_t total() const { return a + b + c + d + bias; }
};

OwnBytes own_bytes(const Problem& problem, const Problem& solved) {
  const auto bytes = [](std::int64_t exact) { return round_up_to(exact, kBufferAlignment); };
  const bool other_m = solved.m != problem.m, other_n = solved.n != problem.n, other_k = solved.k != problem.k;
  OwnBytes own;
  if (other_m || other_k || solved.trans_a != problem.trans_a || solved.lda != problem.lda)
    own.a = bytes(solved.stride_a() * solved.batch * element_bytes(solved.dtype));
  if (other_n || other_k || solved.trans_b != problem.trans_b || solved.ldb != problem.ldb)
    own.b = bytes(solved.stride_b() * solved.batch * element_bytes(solved.dtype));
  if (other_m || other_n || solved.ldc != problem.ldc) {
    own.d = bytes(solved.m * solved.batch * row_bytes(solved));
    if (problem.beta != 0) own.c = own.d;
  }
  if (other_n) own.bias = bytes(solved.bias_bytes());
  return own;
}

/// C or D at `address`, its rows as bytes.
ByteMatrix rows_of_c(std::uint64_t address, const Problem& problem) {
  return {address, row_bytes(problem), 1, problem.m * row_bytes(problem)};
}

}  // namespace

Problem BaselineOperands::solvable(const Problem& problem) {
  Problem solvable = problem;
  if (!cublaslt_fuses(problem.epilogue.activation)) solvable.epilogue.activation = Activation::kNone;
  if (usable_as_is(problem)) return solvable;
  solvable.trans_a = false;
  solvable.trans_b = true;
  solvable.k = round_up_to(problem.k, cublaslt_arithmetic(problem.dtype).k_multiple);
  solvable.lda = solvable.ldb = round_up_to(problem.k, kRowAlignment);
  return solvable;
}

std::optional<Problem> BaselineOperands::enlarged(const Problem& problem) {
  const std::int64_t multiple = cublaslt_arithmetic(problem.dtype).extent_multiple;
  if (whole_multiples(problem, multiple)) return std::nullopt;
  Problem larger = solvable(problem);
  larger.trans_a = false;
  larger.trans_b = true;
  for (std::int64_t* const extent : {&larger.m, &larger.n, &larger.k}) *extent = round_up_to(*extent, multiple);
  larger.lda = larger.ldb = larger.ldc = 0;
  const auto packed = with_default_strides(larger);
  if (!packed) return std::nullopt;
  return *packed;
}

std::int64_t BaselineOperands::copy_bytes(const Problem& problem) {
  const std::int64_t of_its_size = own_bytes(problem, solvable(problem)).total();
  const auto larger = enlarged(problem);
  return larger ? std::max(of_its_size, own_bytes(problem, *larger).total()) : of_its_size;
}

CudaResult<BaselineOperands> BaselineOperands::create(const Problem& problem, const Problem& solved,
                                                      const OperandBuffers& buffers, cudaStream_t stream) {
  BaselineOperands operands(problem, solved, buffers);
  const std::int64_t bytes = own_bytes(problem, solved).total();
  if (bytes == 0) return operands;
  auto memory = DeviceBuffer::allocate(bytes * static_cast<std::int64_t>(operands.copies_.size()));
  if (!memory) return tl::unexpected(memory.error());
  operands.memory_ = std::move(*memory);
  if (solved.shape() != problem.shape()) {
    auto zeroed = buffers.kernels().fill_pattern({operands.memory_.address(), operands.memory_.bytes()}, 0, stream);
    if (!zeroed) return tl::unexpected(zeroed.error());
  }
  std::uint64_t next = operands.memory_.address();
  for (OperandSet& set : operands.copies_) {
    if (auto ok = operands.make_copies(set, next, stream); !ok) return tl::unexpected(ok.error());
    next += static_cast<std::uint64_t>(bytes);
  }
  return operands;
}

CudaResult<> BaselineOperands::make_copies(OperandSet& set, std::uint64_t next, cudaStream_t stream) const {
  const Problem &from = problem_, &to = solved_;
  const OwnBytes own = own_bytes(from, to);
  const OperandSet given = set;
  const auto place = [&](DeviceSpan& operand, std::int64_t bytes) {
    if (bytes == 0) return false;
    operand = {next, bytes};
    next += static_cast<std::uint64_t>(bytes);
    return true;
  };
  const auto copy = [&](const ByteMatrix& source, const ByteMatrix& target, std::int64_t rows, std::int64_t columns,
                        std::int64_t batch) {
    return buffers_->kernels().copy_matrix(source, target, rows, columns, batch, stream);
  };
  const auto along_k = [](std::uint64_t address, bool stored_so, std::int64_t ld, std::int64_t stride) {
    return ByteMatrix{address, stored_so ? ld : 1, stored_so ? 1 : ld, stride};
  };
  const std::int64_t row_of_c = from.n * element_bytes(from.type_of_c());
  CudaResult<> ok;
  if (place(set[Operand::kA], own.a)) {
    ok = copy(along_k(given[Operand::kA].address, !from.trans_a, from.lda, from.stride_a()),
              along_k(set[Operand::kA].address, true, to.lda, to.stride_a()), from.m, from.k, from.batch);
  }
  if (ok && place(set[Operand::kB], own.b)) {
    ok = copy(along_k(given[Operand::kB].address, from.trans_b, from.ldb, from.stride_b()),
              along_k(set[Operand::kB].address, true, to.ldb, to.stride_b()), from.n, from.k, from.batch);
  }
  if (ok && place(set[Operand::kC], own.c)) {
    ok = copy(rows_of_c(given[Operand::kC].address, from), rows_of_c(set[Operand::kC].address, to), from.m, row_of_c,
              from.batch);
  }
  if (ok && place(set[Operand::kBias], own.bias)) {
    ok = copy({given[Operand::kBias].address, row_of_c, 1, 0}, {set[Operand::kBias].address, row_of_c, 1, 0}, 1,
              row_of_c, 1);
  }
  if (place(set[Operand::kD], own.d)) {
    // What is not read is D's buffer, as in every operand set.
    if (from.beta == 0) set[Operand::kC] = set[Operand::kD];
    if (!from.epilogue.bias) set[Operand::kBias] = set[Operand::kD];
  }
  return ok;
}

CudaResult<> BaselineOperands::poison(std::size_t copy, cudaStream_t stream) const {
  if (own_bytes(problem_, solved_).d == 0) return {};
  return buffers_->kernels().fill_pattern(copies_[copy][Operand::kD], kPoison, stream);
}

CudaResult<> BaselineOperands::deliver(std::size_t copy, cudaStream_t stream) const {
  if (own_bytes(problem_, solved_).d == 0) return {};
  return buffers_->kernels().copy_matrix(rows_of_c(copies_[copy][Operand::kD].address, solved_),
                                         rows_of_c(buffers_->copies()[copy][Operand::kD].address, problem_), problem_.m,
                                         problem_.n * element_bytes(problem_.type_of_c()), problem_.batch, stream);
}

}  // namespace pgtune::gpu

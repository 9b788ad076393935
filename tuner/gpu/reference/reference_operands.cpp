// SPDX-License-Identifier: MIT
#include "tuner/gpu/reference/reference_operands.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::int64_t kRowAlignment = 16;  // bytes, and elements of the only types it concerns

std::int64_t round_up_to(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Of K, in elements.
std::int64_t multiple_of_k(MathMode mode) { return mode == MathMode::kInt8 ? 4 : 1; }

bool usable_as_is(const Problem& problem) {
  if (element_bytes(problem.math_mode) != 1) return true;
  return problem.k % multiple_of_k(problem.math_mode) == 0 && !problem.trans_a && problem.trans_b &&
         problem.lda % kRowAlignment == 0 && problem.ldb % kRowAlignment == 0;
}

struct CopyExtents {
  std::int64_t a_bytes = 0, b_bytes = 0;  ///< rounded up to the alignment of buffers
};

CopyExtents copy_extents(const Problem& solvable) {
  return {round_up_to(solvable.stride_a() * solvable.batch, kBufferAlignment),
          round_up_to(solvable.stride_b() * solvable.batch, kBufferAlignment)};
}

}  // namespace

Problem ReferenceOperands::solvable(const Problem& problem) {
  Problem solvable = problem;
  if (!cublaslt_fuses(problem.epilogue.activation)) solvable.epilogue.activation = Activation::kNone;
  if (usable_as_is(problem)) return solvable;
  solvable.trans_a = false;
  solvable.trans_b = true;
  solvable.k = round_up_to(problem.k, multiple_of_k(problem.math_mode));
  solvable.lda = solvable.ldb = round_up_to(problem.k, kRowAlignment);
  return solvable;
}

std::int64_t ReferenceOperands::copy_bytes(const Problem& problem) {
  if (usable_as_is(problem)) return 0;
  const CopyExtents extents = copy_extents(solvable(problem));
  return extents.a_bytes + extents.b_bytes;
}

CudaResult<ReferenceOperands> ReferenceOperands::create(const Problem& problem, const OperandBuffers& buffers,
                                                        cudaStream_t stream) {
  ReferenceOperands operands;
  operands.copies_ = buffers.copies();
  if (usable_as_is(problem)) return operands;
  const Problem to = solvable(problem);
  const CopyExtents extents = copy_extents(to);
  auto memory = DeviceBuffer::allocate(copy_bytes(problem) * static_cast<std::int64_t>(operands.copies_.size()));
  if (!memory) return tl::unexpected(memory.error());
  operands.memory_ = std::move(*memory);
  if (to.k != problem.k) {
    auto zeroed = buffers.kernels().fill_pattern({operands.memory_.address(), operands.memory_.bytes()}, 0, stream);
    if (!zeroed) return tl::unexpected(zeroed.error());
  }
  std::uint64_t next = operands.memory_.address();
  const auto copy = [&](DeviceSpan& matrix, std::int64_t bytes, bool along_k, std::int64_t rows, std::int64_t ld,
                        std::int64_t stride, std::int64_t to_ld) {
    const std::uint64_t source = matrix.address;
    matrix = {next, rows * to_ld * problem.batch};
    next += static_cast<std::uint64_t>(bytes);
    return buffers.kernels().copy_along_k({source, along_k ? ld : 1, along_k ? 1 : ld, stride},
                                          {matrix.address, to_ld, 1, rows * to_ld}, rows, problem.k, problem.batch,
                                          stream);
  };
  for (OperandSet& set : operands.copies_) {
    auto ok = copy(set.a, extents.a_bytes, !problem.trans_a, problem.m, problem.lda, problem.stride_a(), to.lda);
    if (ok) ok = copy(set.b, extents.b_bytes, problem.trans_b, problem.n, problem.ldb, problem.stride_b(), to.ldb);
    if (!ok) return tl::unexpected(ok.error());
  }
  return operands;
}

}  // namespace pgtune::gpu

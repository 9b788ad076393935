// SPDX-License-Identifier: MIT
// The parts of an operation's buffers that need no GPU: the required accuracy, the arguments of the check's kernels in
// their layout, and counts in data. Independent of CUDA, so that tests can run these kernels on the host with the same
// arguments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tuner/model/operation_problem.hpp"

namespace pgtune::gpu {

/// An element passes when |D - R| <= allowed(R, S), S being the scale that the reference writes. The layout is that of
/// Bound in kernels/comparison.cuh.
struct ErrorBound {
  double per_scale = 0;   ///< of S: of a sum's, operand rounding and summation
  double per_result = 0;  ///< of |R|: evaluation of a function and rounding of the result to its type
  double absolute = 0;    ///< the same where |R| is small, subnormal or flushed to zero; half a unit where it is an
                          ///< integer, which has to be exact
  double largest = 0;     ///< finite number of the output's type; beyond it the infinity of the right sign passes
  std::int64_t of_residual = 0;  ///< 1: as ToleratedError's

  [[nodiscard]] double allowed(double result, double scale) const;
};

/// Of an output, as its operation says.
[[nodiscard]] ErrorBound error_bound(const OperationBuffer& output);

/// Replaces the error of an element that is NaN or wrongly infinite, as a multiple of its bound.
inline constexpr double kNotFiniteRatio = 1e30;

/// Counters a comparison leaves in device memory; the layout is that of Comparison in kernels/comparison.cuh.
struct Comparison {
  std::uint64_t wrong = 0, first_wrong = ~0ULL, max_ratio_bits = 0, padding_changed = 0;
  double squared_error = 0, squared_reference = 0;
};
static_assert(sizeof(Comparison) == 48);

/// A buffer of an operation as an argument of its kernels; the layout is that of Tensor in kernels/tensors.cuh.
/// Dimensions of more than one element from the largest stride to the smallest.
struct Tensor {
  std::array<std::int64_t, kMaxBufferRank> extent{}, stride{}, packed{};
  std::int64_t stored = 0;
  std::int32_t rank = 0;
  ElementType type = ElementType::kFloat32;
};
static_assert(sizeof(Tensor) == 3 * 4 * 8 + 8 + 4 + 4);
[[nodiscard]] Tensor tensor_of(const OperationBuffer& buffer);
/// A matrix whose rows are `ld` elements apart, filled as the conditions say.
[[nodiscard]] OperationBuffer matrix_of(ElementType type, std::int64_t rows, std::int64_t columns, std::int64_t ld);

/// Runs of pointers as addresses, for one launch; the layout is that of PointerBatch in kernels/tensors.cuh.
inline constexpr std::size_t kBatchRuns = 64;
struct PointerBatch {
  std::array<std::uint64_t, kBatchRuns> first{};
  std::array<std::int64_t, kBatchRuns> step{}, count{}, stride{}, repeats{}, at{};
};
static_assert(sizeof(PointerBatch) == 6 * 64 * 8);  // an argument of a kernel: 4 KiB at most
struct CountedBatch {
  std::int64_t runs = 0;  ///< that are there
  PointerBatch batch;
};
/// The pointers of `array` into a buffer that begins at `into`.
[[nodiscard]] std::vector<CountedBatch> pointer_batches(const OperationBuffer& array, std::uint64_t into);

static_assert(sizeof(ErrorBound) == 4 * sizeof(double) + sizeof(std::int64_t));

// Kinds of fills and types are handed to the kernels as their numbers.
static_assert(static_cast<int>(FillKind::kIntegers) == 4);
static_assert(sizeof(ElementType) == sizeof(std::int32_t));  // numbered alike: ElementTypes.AreNumberedAsInKernels

/// What an operation counts in its data: of the buffer's elements, whatever lies between them. `stored`: buffer.bytes()
/// bytes as the GPU holds them, of int8 or int32.
[[nodiscard]] double count_elements(const OperationCount& count, const OperationBuffer& buffer,
                                    std::span<const std::byte> stored);

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// What the check's kernels for operations take, laid out as they read it. Knows nothing of CUDA, so that tests that run
// these kernels on the host hand them the same.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tuner/gpu/measure/check/error_bound.hpp"
#include "tuner/model/operation_problem.hpp"

namespace pgtune::gpu {

/// Counters a comparison leaves in device memory; the layout is that of Comparison in kernels/comparison.cuh.
struct Comparison {
  std::uint64_t wrong = 0, first_wrong = ~0ULL, max_ratio_bits = 0, padding_changed = 0;
  double squared_error = 0, squared_reference = 0;
};
static_assert(sizeof(Comparison) == 48);

/// A buffer of an operation as its kernels see it; the layout is that of Tensor in kernels/tensors.cuh. Dimensions of
/// more than one element from the largest stride to the smallest.
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
/// The pointers of `array`, into a buffer that begins at `into`.
[[nodiscard]] std::vector<CountedBatch> pointer_batches(const OperationBuffer& array, std::uint64_t into);

static_assert(sizeof(ErrorBound) == 4 * sizeof(double) + sizeof(std::int64_t));

// Kinds of fills and types are handed to the kernels as their numbers.
static_assert(static_cast<int>(FillKind::kIntegers) == 4);
static_assert(sizeof(ElementType) == sizeof(std::int32_t));  // numbered alike: ElementTypes.AreNumberedAsInKernels

}  // namespace pgtune::gpu

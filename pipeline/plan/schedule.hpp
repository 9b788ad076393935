// SPDX-License-Identifier: MIT
// A candidate as the list of operations that the host issues, for the runner and the simulated machine.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/exported/types.hpp"
#include "pipeline/plan/candidate.hpp"
#include "pipeline/plan/chunk_plan.hpp"
#include "pipeline/plan/streamed_problem.hpp"

namespace pgtune::pipeline {

enum class Step { kCopyIn, kCompute, kCopyOut };
/// "copy_in", "compute", "copy_out".
[[nodiscard]] EnumTable<Step> enum_table(Step step);

/// The legacy default stream as Operation::stream.
inline constexpr int kLegacyStream = -1;
/// Operation::chunk of a copy that belongs to no chunk: an operand that the cut does not divide.
inline constexpr int kNoChunk = -1;

struct Operation {
  Step step = Step::kCopyIn;
  Matrix matrix = Matrix::kA;  ///< of a copy
  Region region;               ///< of that matrix, in host memory
  std::int64_t bytes = 0;  ///< of a copy; of a kernel that reads and writes host memory itself, zero_copy_bytes_in()
  std::int64_t bytes_out = 0;  ///< bytes it writes there
  int chunk = kNoChunk;
  int slot = 0;         ///< index of the matrix's buffer on the device, 0 for a whole matrix
  int stream = 0;       ///< 0 to Schedule::streams - 1, or kLegacyStream
  bool merged = false;  ///< a copy in one call with the operation before
  /// Indices of the operations whose result or buffer it needs; those in another stream need a wait. Copies of one call
  /// begin and end together: the first has the needs of all, and others need the last.
  std::vector<int> needs;
};

struct Schedule {
  std::vector<Chunk> chunks;
  int streams = 1;
  std::vector<Operation> operations;  ///< in the order of issue; each needs earlier ones alone
};

/// The bytes over the bus for a kernel that reads A and B from host memory. L2 does not keep them, so CTAs read A once
/// for each column of tiles of D, and B once for each row of tiles.
[[nodiscard]] std::int64_t zero_copy_bytes_in(const StreamedProblem& streamed);
/// The tile of cuBLASLt's usual kernels for large products.
inline constexpr std::int64_t kTileRows = 128, kTileColumns = 256;

/// The candidate as exported programs receive it.
[[nodiscard]] pgtune_pipeline::Plan plan_of(const StreamedProblem& streamed, const Candidate& candidate);
/// The order of the exported loop's code. Precondition: why_illegal() is empty.
[[nodiscard]] Schedule make_schedule(const StreamedProblem& streamed, const Candidate& candidate);

/// One past the last operation of the call that `first` begins.
[[nodiscard]] std::size_t end_of_call(const Schedule& schedule, std::size_t first);

}  // namespace pgtune::pipeline

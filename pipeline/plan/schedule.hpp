// SPDX-License-Identifier: MIT
// A candidate as the list of operations that the host issues: what the runner gives to CUDA and what the simulated
// machine works off.
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
  std::int64_t bytes_out = 0;  ///< and what it writes there
  int chunk = kNoChunk;
  int slot = 0;         ///< which of the matrix' buffers on the device, 0 for one that is there as a whole
  int stream = 0;       ///< 0 to Schedule::streams - 1, or kLegacyStream
  bool merged = false;  ///< a copy in one call with the operation before
  /// Operations, by index, whose result or buffer it needs. Those in another stream have to be waited for. What is
  /// copied in one call begins and ends together: its first has the needs of all, and its last is what others need.
  std::vector<int> needs;
};

struct Schedule {
  std::vector<Chunk> chunks;
  int streams = 1;
  std::vector<Operation> operations;  ///< in the order of issue; each needs earlier ones alone
};

/// What crosses the bus to a kernel that reads A and B from host memory: nothing of that stays in L2, so that CTAs read
/// A once for each column of tiles of D, and B once for each row of tiles.
[[nodiscard]] std::int64_t zero_copy_bytes_in(const StreamedProblem& streamed);
/// Of cuBLASLt's usual kernels for large products.
inline constexpr std::int64_t kTileRows = 128, kTileColumns = 256;

/// The candidate as programs get it.
[[nodiscard]] pgtune_pipeline::Plan plan_of(const StreamedProblem& streamed, const Candidate& candidate);
/// As the code of exported loops orders it. Precondition: why_illegal() has no objection.
[[nodiscard]] Schedule make_schedule(const StreamedProblem& streamed, const Candidate& candidate);

/// One past the last operation of the call that `first` begins.
[[nodiscard]] std::size_t end_of_call(const Schedule& schedule, std::size_t first);

}  // namespace pgtune::pipeline

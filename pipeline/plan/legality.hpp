// SPDX-License-Identifier: MIT
// Which candidates make sense and fit, with the reason where one does not.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/plan/candidate.hpp"
#include "pipeline/plan/streamed_problem.hpp"

namespace pgtune::pipeline {

struct Limits {
  std::int64_t device_bytes = 0;  ///< memory that is free on the GPU
  std::int64_t pinned_bytes = 0;  ///< host memory that may be pinned at a time
  bool batched_copies = true;     ///< the driver has cudaMemcpyBatchAsync
};

/// Bytes on the GPU: operands that stay, whole copies of those that stream undivided, buffers, and two
/// workspaces for each stream that launches kernels.
[[nodiscard]] std::int64_t device_bytes(const StreamedProblem& streamed, const Candidate& candidate);
inline constexpr std::int64_t kWorkspaceBytes = std::int64_t{64} << 20;

/// Bytes of host memory that the candidate pins.
[[nodiscard]] std::int64_t pinned_bytes(const StreamedProblem& streamed, const Candidate& candidate);

/// Streams that launch kernels.
[[nodiscard]] int compute_streams(const Candidate& candidate);

/// Why not; empty where the candidate can run. The reason does not name the candidate.
[[nodiscard]] std::string why_illegal(const StreamedProblem& streamed, const Candidate& candidate,
                                      const Limits& limits);

}  // namespace pgtune::pipeline

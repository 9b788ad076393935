// SPDX-License-Identifier: MIT
// The current problem's opponent: the fairest available baseline of its operation, reported with the others.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/libraries/cuda_library.hpp"
#include "tuner/model/operation_baseline.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

/// GEMM's baseline, which is a library's; or the first available baseline of the operation, else the copy. Its report
/// has the others' times, or why they are not available. With `known`, the one that another process chose, without
/// trying the others again. Errors: those of Baseline::find() and take_over() for GEMM's, for the copy and for a known
/// one; a lost context.
[[nodiscard]] Result<std::unique_ptr<Baseline>> make_baseline(const Problem& problem, const BaselineParts& parts,
                                                              const std::optional<protocol::KnownBaseline>& known);

/// One without algorithms.
[[nodiscard]] std::unique_ptr<Baseline> make_no_baseline(const OperandBuffers& buffers, cudaStream_t stream);

/// The memory of all of them.
[[nodiscard]] MemoryNeed baseline_memory(const Problem& problem);

/// Whether some baseline is cuBLASLt's product of groups. Newer versions can multiply all groups in one call with
/// grouped layouts, which are then reported as another baseline.
[[nodiscard]] bool has_groups_of_cublaslt(const std::vector<OperationBaseline>& baselines);

/// cuBLASLt's grouped layouts as an unavailable baseline: the opened library lacks them, or pgtune cannot use them.
/// `title`: the library's, "cuBLASLt 13.1.0".
[[nodiscard]] OtherBaseline unused_grouped_layouts(const OpenedLibrary& library, const std::string& title);

}  // namespace pgtune::gpu

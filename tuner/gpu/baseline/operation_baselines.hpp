// SPDX-License-Identifier: MIT
// What the current problem is compared with: the fairest of its operation's baselines that is available, with the
// others beside it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/libraries/cuda_library.hpp"
#include "tuner/model/operation_baseline.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

/// GEMM's baseline, which is a library's; or the first of the operation's baselines that is available, else the copy,
/// with the others' times, or why they are not available, in its report. With `known`, the one that another process
/// chose, without looking at the others again. Errors: as Baseline::find() and take_over() of GEMM's, of the copy and
/// of one that is taken over; a lost context.
[[nodiscard]] Result<std::unique_ptr<Baseline>> make_baseline(const Problem& problem, const BaselineParts& parts,
                                                              const std::optional<protocol::KnownBaseline>& known);

/// What all of them allocate.
[[nodiscard]] MemoryNeed baseline_memory(const Problem& problem);

/// Some baseline is cuBLASLt's product of groups, beside which grouped layouts would stand: newer versions multiply all
/// groups of a product in one call with these.
[[nodiscard]] bool has_groups_of_cublaslt(const std::vector<OperationBaseline>& baselines);

/// Grouped layouts of an opened cuBLASLt as a baseline that is not available: it has none, or pgtune cannot use them.
/// `title`: the library's, "cuBLASLt 13.1.0".
[[nodiscard]] OtherBaseline unused_grouped_layouts(const OpenedLibrary& library, const std::string& title);

}  // namespace pgtune::gpu

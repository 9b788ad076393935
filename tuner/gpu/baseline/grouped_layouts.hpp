// SPDX-License-Identifier: MIT
// cuBLASLt's grouped layouts, which newer versions multiply all groups of a product with in one call: what a result
// says of them, since pgtune does not use them.
#pragma once

#include <vector>

#include "tuner/gpu/libraries/cuda_library.hpp"
#include "tuner/model/operation_baseline.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

/// Some baseline is cuBLASLt's product of groups, beside which grouped layouts would stand.
[[nodiscard]] bool has_groups_of_cublaslt(const std::vector<OperationBaseline>& baselines);

/// Grouped layouts of an opened cuBLASLt as a baseline that is not available: it has none, or pgtune cannot use them.
/// `title`: the library's, "cuBLASLt 13.1.0".
[[nodiscard]] OtherBaseline unused_grouped_layouts(const OpenedLibrary& library, const std::string& title);

}  // namespace pgtune::gpu

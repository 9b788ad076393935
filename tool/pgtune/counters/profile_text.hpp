// SPDX-License-Identifier: MIT
// What Nsight Compute's ncu writes: its table of kernels in CSV form, page "raw", and its messages around it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/kernel_counters.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// The kernels, in the order in which they were launched; KernelCounters::profiler is not filled. Errors (environment):
/// what ncu says, with the remedy where it is known; a text without a table.
[[nodiscard]] Result<std::vector<KernelCounters>> parse_profile(std::string_view text);

/// Those of `asked` that ncu does not know on this GPU and therefore refuses to read any.
[[nodiscard]] std::vector<std::string> unknown_metrics(std::string_view text, const std::vector<std::string>& asked);

/// A kernel's name without return type and arguments, shortened: "void f<(int)8>(A, B)" is "f<(int)8>".
[[nodiscard]] std::string kernel_title(std::string_view demangled);

}  // namespace pgtune::tool

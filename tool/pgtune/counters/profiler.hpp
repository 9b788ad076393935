// SPDX-License-Identifier: MIT
// Hardware counters of kernels, read by the toolkit's profiler (Nsight Compute's ncu) while another program launches
// them.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/conditions.hpp"
#include "tuner/model/kernel_counters.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// nsight-compute's ncu: PGTUNE_NCU, else as find_toolkit_program() looks. Error (environment) with the remedy.
[[nodiscard]] Result<std::filesystem::path> find_profiler();

struct ProfileRequest {
  std::vector<std::string> command;                 ///< a path first
  L2State l2 = L2State::kRotated;                   ///< rotated: the caches are emptied before each kernel
  std::chrono::seconds patience{180};               ///< for all of it
  std::function<void(const std::string&)> on_line;  ///< hears what the command prints
};

/// Runs the command under the profiler, which reads the counters of what is launched between cuProfilerStart and
/// cuProfilerStop, in order. It leaves clocks and every other setting of the GPU alone. Errors (environment): it may
/// not read counters, with the remedy; it fails; it takes longer than its time, or `stop` becomes true: both programs
/// are ended.
[[nodiscard]] Result<std::vector<KernelCounters>> profile(const std::filesystem::path& profiler,
                                                          const ProfileRequest& request, const std::atomic<bool>& stop);

// What Nsight Compute's ncu writes: its table of kernels in CSV form, page "raw", and its messages around it.

/// The kernels, in the order in which they were launched; KernelCounters::profiler is not filled. Errors (environment):
/// what ncu says, with the remedy where it is known; a text without a table.
[[nodiscard]] Result<std::vector<KernelCounters>> parse_profile(std::string_view text);

/// Those of `asked` that ncu does not know on this GPU and therefore refuses to read any.
[[nodiscard]] std::vector<std::string> unknown_metrics(std::string_view text, const std::vector<std::string>& asked);

/// A kernel's name without return type and arguments, shortened: "void f<(int)8>(A, B)" is "f<(int)8>".
[[nodiscard]] std::string kernel_title(std::string_view demangled);

}  // namespace pgtune::tool

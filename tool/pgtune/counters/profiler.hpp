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

/// nsight-compute's ncu: PGTUNE_NCU, else from find_toolkit_program(). Error (environment) with the remedy.
[[nodiscard]] Result<std::filesystem::path> find_profiler();

struct ProfileRequest {
  std::vector<std::string> command;                 ///< a path first
  L2State l2 = L2State::kRotated;                   ///< rotated: the caches are emptied before each kernel
  std::chrono::seconds patience{180};               ///< for all of it
  std::function<void(const std::string&)> on_line;  ///< receives the command's output
};

/// Runs the command under the profiler, which reads the counters of kernels launched between cuProfilerStart and
/// cuProfilerStop, in order. Changes no clock or other setting of the GPU. Errors (environment): it may not read
/// counters, with the remedy; it fails; or it exceeds its time or `stop` becomes true, and both programs are killed.
[[nodiscard]] Result<std::vector<KernelCounters>> profile(const std::filesystem::path& profiler,
                                                          const ProfileRequest& request, const std::atomic<bool>& stop);

// The output of Nsight Compute's ncu: its table of kernels as CSV, page "raw", with messages around it.

/// The kernels, in the order of launches; KernelCounters::profiler is not filled. Errors (environment): ncu's message,
/// with the remedy if known; a text without a table.
[[nodiscard]] Result<std::vector<KernelCounters>> parse_profile(std::string_view text);

/// The metrics of `asked` that ncu does not know on this GPU; because of them it refuses to read any.
[[nodiscard]] std::vector<std::string> unknown_metrics(std::string_view text, const std::vector<std::string>& asked);

/// A kernel's name without return type and arguments, shortened: "void f<(int)8>(A, B)" is "f<(int)8>".
[[nodiscard]] std::string kernel_title(std::string_view demangled);

}  // namespace pgtune::tool

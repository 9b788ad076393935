// SPDX-License-Identifier: MIT
// Hardware counters of kernels, read by the toolkit's profiler (Nsight Compute's ncu) while another program launches
// them.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// What is read, and the profiler's name for it. Stalls are shares of the time between two instructions of a warp, in
/// percent; kFmaPipe and kIssueSlots are percent of what the multiprocessors could do.
inline constexpr const char* kLongScoreboard = "long_scoreboard";
inline constexpr const char* kShortScoreboard = "short_scoreboard";
inline constexpr const char* kMioThrottle = "mio_throttle";
inline constexpr const char* kLgThrottle = "lg_throttle";
inline constexpr const char* kDispatch = "dispatch_stall";
inline constexpr const char* kBarrier = "barrier";
inline constexpr const char* kFmaPipe = "fma_pipe";
inline constexpr const char* kIssueSlots = "issue_slots";
inline constexpr const char* kBankConflicts = "bank_conflicts";
inline constexpr const char* kDuration = "duration_ns";

struct ProfiledKernel {
  std::string name;
  std::map<std::string, double> counters;  ///< by the names above, and more stalls by the profiler's own names
};

/// nsight-compute's ncu: PGTUNE_NCU, else as find_toolkit_program() looks. Error (environment) with the remedy.
[[nodiscard]] Result<std::filesystem::path> find_profiler();

struct ProfileRequest {
  std::vector<std::string> command;                 ///< a path first
  std::vector<std::string> kernels;                 ///< whose launches are profiled
  std::chrono::seconds patience{120};               ///< for all of it
  std::function<void(const std::string&)> on_line;  ///< hears what the command prints
};

/// Runs the command under the profiler, which reads the counters of the kernels' launches, in order. It leaves clocks
/// and caches alone. Errors (environment): it may not read counters, with the remedy; it fails; it takes longer than
/// its time, or `stop` becomes true: both programs are ended.
[[nodiscard]] Result<std::vector<ProfiledKernel>> profile(const std::filesystem::path& profiler,
                                                          const ProfileRequest& request, const std::atomic<bool>& stop);

/// The kernels in ncu's text in CSV form, page "raw", messages and all. Errors (environment): what ncu says, with the
/// remedy where it is known; a text without a table.
[[nodiscard]] Result<std::vector<ProfiledKernel>> parse_profile(std::string_view text);

}  // namespace pgtune::tool

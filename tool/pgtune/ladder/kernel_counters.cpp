// SPDX-License-Identifier: MIT
#include "tool/pgtune/ladder/kernel_counters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "tool/pgtune/cli/scratch_folder.hpp"
#include "tool/pgtune/cli/toolkit_program.hpp"
#include "tuner/util/child_process.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;

/// A warp's cycles between two instructions, all states together and in one of them.
constexpr const char* kWarpLatency = "smsp__average_warp_latency_per_inst_issued.ratio";
constexpr std::string_view kStallPrefix = "smsp__average_warps_issue_stalled_";
constexpr std::string_view kStallSuffix = "_per_issue_active.ratio";
constexpr std::array kStalls{kLongScoreboard, kShortScoreboard,     kMioThrottle,   kBarrier, kLgThrottle,
                             kDispatch,       "math_pipe_throttle", "not_selected", "wait",   "no_instruction"};
constexpr std::array kOthers{std::pair{kFmaPipe, "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"},
                             std::pair{kIssueSlots, "smsp__issue_active.avg.pct_of_peak_sustained_active"},
                             std::pair{kBankConflicts, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"},
                             std::pair{kDuration, "gpu__time_duration.sum"}};

constexpr std::size_t kMaxLineBytes = 64U << 20U;

std::string stall_metric(std::string_view stall) { return fmt::format("{}{}{}", kStallPrefix, stall, kStallSuffix); }

std::string metrics() {
  std::string names = kWarpLatency;
  for (const char* stall : kStalls) names += ',' + stall_metric(stall);
  for (const auto& [name, metric] : kOthers) names += fmt::format(",{}", metric);
  return names;
}

/// The cells of a line in which every cell is quoted.
std::vector<std::string> cells(std::string_view line) {
  std::vector<std::string> found;
  for (std::size_t begin = line.find('"'); begin != std::string_view::npos;) {
    const std::size_t end = line.find('"', begin + 1);
    if (end == std::string_view::npos) break;
    found.emplace_back(line.substr(begin + 1, end - begin - 1));
    begin = line.find('"', end + 1);
  }
  return found;
}

/// "1,234.5" as a number; nothing for what is none, such as "n/a".
std::optional<double> number(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? std::nullopt : std::optional(value);
}

ProfiledKernel kernel_of(const std::map<std::string, std::string>& row) {
  const auto value = [&](const std::string& metric) {
    const auto cell = row.find(metric);
    return cell == row.end() ? std::nullopt : number(cell->second);
  };
  ProfiledKernel kernel;
  const auto name = row.find("Kernel Name");
  if (name != row.end()) kernel.name = name->second.substr(0, name->second.find('('));
  const auto latency = value(kWarpLatency);
  for (const char* stall : kStalls) {
    const auto cycles = value(stall_metric(stall));
    if (cycles && latency && *latency > 0) kernel.counters[stall] = 100 * *cycles / *latency;
  }
  for (const auto& [counter, metric] : kOthers) {
    if (const auto read = value(metric)) kernel.counters[counter] = *read;
  }
  return kernel;
}

/// The profiler's first complaint as an error of ours.
Error complaint(std::string_view text) {
  if (text.find("ERR_NVGPUCTRPERM") != std::string_view::npos)
    return {ErrorKind::kEnvironment,
            "this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM); run as root, or have the "
            "administrator load the driver with NVreg_RestrictProfilingToAdminUsers=0",
            {}};
  constexpr std::string_view kError = "==ERROR== ";
  const std::size_t begin = text.find(kError);
  if (begin == std::string_view::npos)
    return {ErrorKind::kEnvironment, "the profiler measured no kernel and does not say why; try 'ncu' by hand", {}};
  const std::string_view said = text.substr(begin + kError.size());
  return {ErrorKind::kEnvironment,
          fmt::format("the profiler cannot read this GPU's counters: {}", said.substr(0, said.find('\n'))),
          {}};
}

/// Waits for the child's end; false where it was ended.
bool wait_for_end(ChildProcess& child, const ProfileRequest& request, const std::atomic<bool>& stop) {
  const auto until = SteadyClock::now() + request.patience;
  while (!child.ended()) {
    if (stop || child.overflowed() || SteadyClock::now() >= until) {
      ::kill(-child.pid(), SIGKILL);  // its group: the profiled program too
      return false;
    }
    std::vector<pollfd> fds;
    child.add_poll_fds(fds);
    // A signal only means another look, as does a second without news.
    static_cast<void>(wait_ready(fds, std::min(until, SteadyClock::now() + std::chrono::seconds(1))));
    child.pump();
    while (const auto line = child.next_line()) request.on_line(*line);
  }
  return true;
}

}  // namespace

Result<fs::path> find_profiler() { return find_toolkit_program({"ncu", "profiler", "PGTUNE_NCU"}); }

Result<std::vector<ProfiledKernel>> profile(const fs::path& profiler, const ProfileRequest& request,
                                            const std::atomic<bool>& stop) {
  const ScratchFolder folder;
  if (folder.path().empty()) return fail(ErrorKind::kEnvironment, "cannot make a folder for temporary files");
  const fs::path log = folder.path() / "log";
  // Without these two it would lock the clocks and empty the caches before each pass.
  std::vector<std::string> whole{profiler.string(),
                                 "--clock-control",
                                 "none",
                                 "--cache-control",
                                 "none",
                                 "--config-file",
                                 "off",
                                 "--csv",
                                 "--page",
                                 "raw",
                                 "--print-units",
                                 "base",
                                 "--log-file",
                                 log.string(),
                                 "--metrics",
                                 metrics(),
                                 "--kernel-name",
                                 fmt::format("regex:^({})$", fmt::join(request.kernels, "|"))};
  whole.insert(whole.end(), request.command.begin(), request.command.end());
  auto child = ChildProcess::start(whole, kMaxLineBytes);
  if (!child) return tl::unexpected(std::move(child.error()));
  if (!wait_for_end(**child, request, stop))
    return fail(ErrorKind::kEnvironment,
                stop ? std::string("the profiler was stopped")
                     : fmt::format("the profiler took more than {} s", request.patience.count()));
  const std::string ending = (*child)->death_reason();
  std::ostringstream text;
  text << std::ifstream(log).rdbuf();
  auto parsed = parse_profile(text.str());
  if (!parsed) return fail(std::move(parsed.error()), fmt::format("{} {}", profiler.string(), ending));
  return parsed;
}

Result<std::vector<ProfiledKernel>> parse_profile(std::string_view text) {
  std::vector<ProfiledKernel> kernels;
  std::vector<std::string> titles;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('"')) continue;  // messages
    const std::vector<std::string> row = cells(line);
    if (row.front() == "ID") {
      titles = row;
    } else if (!titles.empty() && !row.front().empty()) {  // the row of units has no ID
      std::map<std::string, std::string> named;
      for (std::size_t i = 0; i < std::min(row.size(), titles.size()); ++i) named[titles[i]] = row[i];
      kernels.push_back(kernel_of(named));
    }
  }
  if (kernels.empty()) return tl::unexpected(complaint(text));
  return kernels;
}

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
#include "tool/pgtune/counters/profiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "tool/pgtune/cli/scratch_folder.hpp"
#include "tool/pgtune/cli/toolkit_program.hpp"
#include "tool/pgtune/counters/metrics.hpp"
#include "tool/pgtune/counters/profile_text.hpp"
#include "tuner/util/child_process.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLineBytes = 64U << 20U;
constexpr std::chrono::seconds kVersionPatience{20};

/// Runs a child to its end; false where it was ended.
bool run_to_end(ChildProcess& child, SteadyClock::time_point until, const std::atomic<bool>& stop,
                const std::function<void(const std::string&)>& on_line) {
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
    while (const auto line = child.next_line()) on_line(*line);
  }
  return true;
}

/// "ncu 2025.3.1.0"; "ncu" where it does not say.
std::string version_of(const fs::path& profiler, const std::atomic<bool>& stop) {
  constexpr std::string_view kVersion = "Version ";
  std::string name = "ncu";
  auto child = ChildProcess::start({profiler.string(), "--version"}, kMaxLineBytes);
  if (!child) return name;
  static_cast<void>(run_to_end(**child, SteadyClock::now() + kVersionPatience, stop, [&](const std::string& line) {
    if (!line.starts_with(kVersion)) return;
    const std::string version = line.substr(kVersion.size(), line.find(' ', kVersion.size()) - kVersion.size());
    if (!version.empty() && version.find_first_not_of("0123456789.") == std::string::npos) name += ' ' + version;
  }));
  return name;
}

/// Runs the command once; the profiler's log.
Result<std::string> run_once(const fs::path& profiler, const std::vector<std::string>& metrics,
                             const ProfileRequest& request, SteadyClock::time_point until,
                             const std::atomic<bool>& stop, std::string& ending) {
  const ScratchFolder folder;
  if (folder.path().empty()) return fail(ErrorKind::kEnvironment, "cannot make a folder for temporary files");
  const fs::path log = folder.path() / "log";
  // Without the first it would lock the clocks. Caches that are emptied stand for operands that come from DRAM.
  std::vector<std::string> whole{profiler.string(),
                                 "--clock-control",
                                 "none",
                                 "--cache-control",
                                 request.l2 == L2State::kRotated ? "all" : "none",
                                 "--config-file",
                                 "off",
                                 "--profile-from-start",
                                 "off",
                                 "--csv",
                                 "--page",
                                 "raw",
                                 "--print-units",
                                 "base",
                                 "--log-file",
                                 log.string(),
                                 "--metrics",
                                 fmt::format("{}", fmt::join(metrics, ","))};
  whole.insert(whole.end(), request.command.begin(), request.command.end());
  auto child = ChildProcess::start(whole, kMaxLineBytes);
  if (!child) return tl::unexpected(std::move(child.error()));
  if (!run_to_end(**child, until, stop, request.on_line))
    return fail(ErrorKind::kEnvironment,
                stop ? std::string("the profiler was stopped")
                     : fmt::format("the profiler took more than {} s", request.patience.count()));
  ending = (*child)->death_reason();
  std::ostringstream text;
  text << std::ifstream(log).rdbuf();
  return text.str();
}

}  // namespace

Result<fs::path> find_profiler() { return find_toolkit_program({"ncu", "profiler", "PGTUNE_NCU"}); }

Result<std::vector<KernelCounters>> profile(const fs::path& profiler, const ProfileRequest& request,
                                            const std::atomic<bool>& stop) {
  const auto until = SteadyClock::now() + request.patience;
  std::vector<std::string> metrics = metric_names();
  std::string ending;
  auto log = run_once(profiler, metrics, request, until, stop, ending);
  if (!log) return tl::unexpected(std::move(log.error()));
  auto kernels = parse_profile(*log);
  // GPUs and versions of the profiler differ in their metrics: what this one does not have is left out.
  if (const auto unknown = unknown_metrics(*log, metrics); !kernels && !unknown.empty()) {
    std::erase_if(metrics, [&](const std::string& metric) {
      return std::find(unknown.begin(), unknown.end(), metric) != unknown.end();
    });
    log = run_once(profiler, metrics, request, until, stop, ending);
    if (!log) return tl::unexpected(std::move(log.error()));
    kernels = parse_profile(*log);
  }
  if (!kernels) return fail(std::move(kernels.error()), fmt::format("{} {}", profiler.string(), ending));
  const std::string version = version_of(profiler, stop);
  for (KernelCounters& kernel : *kernels) kernel.profiler = version;
  return kernels;
}

}  // namespace pgtune::tool

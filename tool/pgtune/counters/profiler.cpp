// SPDX-License-Identifier: MIT
#include "tool/pgtune/counters/profiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "tool/pgtune/cli/output_file.hpp"
#include "tool/pgtune/cli/toolkit_program.hpp"
#include "tool/pgtune/counters/metrics.hpp"
#include "tuner/util/child_process.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLineBytes = 64U << 20U;
constexpr std::chrono::seconds kVersionPatience{20};

/// "ncu 2025.3.1.0"; "ncu" if its version is unknown.
std::string version_of(const fs::path& profiler, const std::atomic<bool>& stop) {
  constexpr std::string_view kVersion = "Version ";
  std::string name = "ncu";
  auto child = ChildProcess::start({profiler.string(), "--version"}, kMaxLineBytes);
  if (!child) return name;
  const auto on_line = [&](const std::string& line) {
    if (!line.starts_with(kVersion)) return;
    const std::string version = line.substr(kVersion.size(), line.find(' ', kVersion.size()) - kVersion.size());
    if (!version.empty() && version.find_first_not_of("0123456789.") == std::string::npos) name += ' ' + version;
  };
  static_cast<void>(run_to_end(**child, SteadyClock::now() + kVersionPatience, on_line, &stop));
  return name;
}

/// Runs the command once; the profiler's log.
Result<std::string> run_once(const fs::path& profiler, const std::vector<std::string>& metrics,
                             const ProfileRequest& request, SteadyClock::time_point until,
                             const std::atomic<bool>& stop, std::string& ending) {
  TRY_ASSIGN(const auto folder, ScratchFolder::make());
  const fs::path log = folder.path() / "log";
  // Without the first option it would lock the clocks. Flushed caches correspond to operands from DRAM.
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
  ending = run_to_end(**child, until, request.on_line, &stop);
  if (!(*child)->ended())
    return fail(ErrorKind::kEnvironment,
                stop                     ? std::string("the profiler was stopped")
                : (*child)->overflowed() ? std::string("the profiler wrote too long a line")
                                         : fmt::format("the profiler took more than {} s", request.patience.count()));
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
  // GPUs and versions of the profiler differ in their metrics: missing ones are left out.
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

namespace {

constexpr std::string_view kErrorMark = "==ERROR== ";

/// The cells of a line of CSV; a quote inside a quoted cell is doubled.
std::vector<std::string> cells(std::string_view line) {
  std::vector<std::string> found(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      found.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      found.emplace_back();
    } else if (c != '\r') {
      found.back() += c;
    }
  }
  return found;
}

/// Common messages of ncu, with remedies.
constexpr std::array kRemedies{
    std::pair{std::string_view("ERR_NVGPUCTRPERM"),
              "this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM); run as root, or have the "
              "administrator load the driver with NVreg_RestrictProfilingToAdminUsers=0"},
    std::pair{std::string_view("Driver resource unavailable"),
              "another program reads this GPU's performance counters (ncu: driver resource unavailable); end it, or "
              "pause it: 'dcgmi profiling --pause' where it is NVIDIA's DCGM"}};

Error complaint(std::string_view text) {
  for (const auto& [said, remedy] : kRemedies) {
    if (text.find(said) != std::string_view::npos) return {ErrorKind::kEnvironment, remedy, {}};
  }
  const std::size_t begin = text.find(kErrorMark);
  if (begin == std::string_view::npos)
    return {ErrorKind::kEnvironment, "the profiler measured no kernel and does not say why; try 'ncu' by hand", {}};
  const std::string_view said = text.substr(begin + kErrorMark.size());
  return {ErrorKind::kEnvironment,
          fmt::format("the profiler cannot read this GPU's counters: {}",
                      excerpt(std::string(said.substr(0, said.find('\n'))))),
          {}};
}

KernelCounters kernel_of(const std::vector<std::string>& titles, const std::vector<std::string>& units,
                         const std::vector<std::string>& row) {
  MetricRow named;
  for (std::size_t i = 0; i < std::min(row.size(), titles.size()); ++i)
    named[titles[i]] = {row[i], i < units.size() ? units[i] : std::string()};
  KernelCounters kernel = counters_of(named);
  if (const auto name = named.find("Kernel Name"); name != named.end()) kernel.kernel = kernel_title(name->second.text);
  return kernel;
}

}  // namespace

std::string kernel_title(std::string_view demangled) {
  constexpr std::string_view kVoid = "void ";
  if (demangled.starts_with(kVoid)) demangled.remove_prefix(kVoid.size());
  int depth = 0;
  std::size_t end = 0;
  for (; end < demangled.size() && !(demangled[end] == '(' && depth == 0); ++end)
    depth += demangled[end] == '<' ? 1 : demangled[end] == '>' ? -1 : 0;
  return excerpt(std::string(demangled.substr(0, end)));
}

Result<std::vector<KernelCounters>> parse_profile(std::string_view text) {
  std::vector<KernelCounters> kernels;
  std::vector<std::string> titles, units;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('"')) continue;  // messages
    std::vector<std::string> row = cells(line);
    if (row.front() == "ID") {
      titles = std::move(row);
      units.clear();
    } else if (titles.empty()) {
      continue;
    } else if (row.front().empty()) {  // the row of units has no ID
      units = std::move(row);
    } else {
      kernels.push_back(kernel_of(titles, units, row));
    }
  }
  if (kernels.empty()) return tl::unexpected(complaint(text));
  return kernels;
}

std::vector<std::string> unknown_metrics(std::string_view text, const std::vector<std::string>& asked) {
  std::vector<std::string> unknown;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kErrorMark)) continue;
    for (const std::string& metric : asked) {
      if (line.find(metric) != std::string::npos) unknown.push_back(metric);
    }
  }
  return unknown;
}

}  // namespace pgtune::tool

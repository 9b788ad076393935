// SPDX-License-Identifier: MIT
#include "tool/pgtune/counters/profile_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "tool/pgtune/counters/metrics.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::tool {
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

/// Messages of ncu that users meet, and what to do about them.
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

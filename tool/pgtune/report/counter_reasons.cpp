// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/counter_reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace pgtune::tool {
namespace {

// From here on a roof is the limit, or near.
constexpr double kAtRoof = 0.8, kNearRoof = 0.6;
// Stalls below it, and conflicts, say little about a kernel's time.
constexpr double kWorthSaying = 0.2, kConflictsWorthSaying = 0.1;
constexpr double kSameBytes = 0.05;

constexpr std::array kStallTexts{
    std::pair{std::string_view("long_scoreboard"), "for data from global memory"},
    std::pair{std::string_view("short_scoreboard"), "for results of shared memory or of special functions"},
    std::pair{std::string_view("mio_throttle"), "for room in the queue of shared-memory instructions"},
    std::pair{std::string_view("lg_throttle"), "for room in the queue of global-memory instructions"},
    std::pair{std::string_view("barrier"), "at CTA barriers"},
    std::pair{std::string_view("dispatch"), "at the dispatch port"},
    std::pair{std::string_view("math_pipe_throttle"), "for a busy arithmetic pipe"},
    std::pair{std::string_view("gmma"), "for warpgroup matrix instructions"},
    std::pair{std::string_view("wait"), "for the fixed latency of the instruction before"},
    std::pair{std::string_view("no_instruction"), "for instructions to be fetched"},
    std::pair{std::string_view("not_selected"), "though ready, for an issue slot"},
    std::pair{std::string_view("membar"), "at memory fences"},
    std::pair{std::string_view("sleeping"), "asleep"},
    std::pair{std::string_view("branch_resolve"), "for branches to be resolved"},
    std::pair{std::string_view("drain"), "for their last stores to drain"},
    std::pair{std::string_view("imc_miss"), "for constants from memory"},
    std::pair{std::string_view("tex_throttle"), "for room in the texture queue"}};

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string use_text(const RoofUse& use) {
  return use.bandwidth ? fmt::format("at {} of its measured bandwidth", percent(use.share))
                       : fmt::format("busy {} of the time", percent(use.share));
}

std::string limit_text(const RoofUse& nearest) {
  if (nearest.share >= kAtRoof) return fmt::format("limited by {}: {}", nearest.roof, use_text(nearest));
  if (nearest.share >= kNearRoof) return fmt::format("close to {}: {}", nearest.roof, use_text(nearest));
  return fmt::format("no roof is near: the nearest is {}, {}", nearest.roof, use_text(nearest));
}

const RoofUse* busiest(const std::vector<RoofUse>& uses, std::initializer_list<std::string_view> roofs) {
  const RoofUse* best = nullptr;
  for (const RoofUse& use : uses) {
    const bool wanted = roofs.size() == 0 || std::find(roofs.begin(), roofs.end(), use.roof) != roofs.end();
    if (wanted && (best == nullptr || use.share > best->share)) best = &use;
  }
  return best;
}

/// Global memory is DRAM or L2: which of them is waited for is known where one of them is near what it can do.
std::string waiting_text(std::string_view stall, double share, const std::vector<RoofUse>& uses) {
  const RoofUse* const memory = busiest(uses, {"DRAM", "L2"});
  const bool global = stall == "long_scoreboard" && memory != nullptr;
  if (global && memory->share >= kNearRoof)
    return fmt::format("its warps wait for {} {} of their time: it is {}", memory->roof, percent(share),
                       use_text(*memory));
  return fmt::format("its warps wait {} {} of their time{}", stall_text(stall), percent(share),
                     global ? ", and neither DRAM nor L2 is near its bandwidth" : "");
}

}  // namespace

std::string stall_text(std::string_view stall) {
  const auto known =
      std::find_if(kStallTexts.begin(), kStallTexts.end(), [&](const auto& entry) { return entry.first == stall; });
  return known == kStallTexts.end() ? std::string(stall) : known->second;
}

std::vector<RoofUse> roof_uses(const KernelCounters& counters, double time_s, const std::optional<Ceilings>& ceilings) {
  std::vector<RoofUse> uses;
  const double seconds = time_s > 0 ? time_s : counters.duration_s;
  const auto add = [&](const char* roof, const std::optional<double>& bytes, double bytes_per_s) {
    if (bytes && bytes_per_s > 0 && seconds > 0) uses.push_back({roof, true, *bytes / seconds / bytes_per_s});
  };
  if (ceilings) {
    add("DRAM", counters.dram_bytes(), ceilings->dram_bytes_per_s);
    add("L2", counters.l2_bytes(), ceilings->l2_bytes_per_s);
    add("shared memory", counters.smem_bytes, ceilings->smem_bytes_per_s.value_or(0));
  }
  if (counters.tensor_pipe_share) uses.push_back({"the tensor cores", false, *counters.tensor_pipe_share});
  if (counters.fma_pipe_share) uses.push_back({"the FMA pipe", false, *counters.fma_pipe_share});
  return uses;
}

std::vector<std::string> reasons(const KernelCounters& counters, double time_s,
                                 const std::optional<Ceilings>& ceilings) {
  std::vector<std::string> out;
  const std::vector<RoofUse> uses = roof_uses(counters, time_s, ceilings);
  if (const RoofUse* const nearest = busiest(uses, {})) out.push_back(limit_text(*nearest));
  if (const auto stalls = counters.stalls(); !stalls.empty() && stalls.front().second >= kWorthSaying)
    out.push_back(waiting_text(stalls.front().first, stalls.front().second, uses));
  if (counters.bank_conflicts && counters.smem_wavefronts && *counters.smem_wavefronts > 0) {
    const double share = *counters.bank_conflicts / *counters.smem_wavefronts;
    if (share >= kConflictsWorthSaying)
      out.push_back(fmt::format("{} of its shared-memory accesses are bank conflicts", percent(share)));
  }
  return out;
}

std::vector<std::string> differences(const KernelCounters& counters, const KernelCounters& baseline,
                                     std::string_view baseline_name) {
  std::vector<std::string> out;
  const auto compare = [&](const char* where, const std::optional<double>& own, const std::optional<double>& other) {
    if (!own || !other || !(*other > 0)) return;
    const double ratio = *own / *other;
    if (ratio < 1 - kSameBytes || ratio > 1 + kSameBytes)
      out.push_back(fmt::format("moves {:.2f} times {}'s bytes {}", ratio, baseline_name, where));
  };
  compare("to and from DRAM", counters.dram_bytes(), baseline.dram_bytes());
  compare("through L2", counters.l2_bytes(), baseline.l2_bytes());
  compare("of shared memory", counters.smem_bytes, baseline.smem_bytes);
  return out;
}

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
#include "tool/pgtune/counters/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace pgtune::tool {
namespace {

enum class Quantity { kBytes, kSeconds, kHertz, kShare, kCount };

struct Unit {
  std::string_view name;
  Quantity quantity;
  double factor;
};

/// As ncu writes them, with --print-units base and without, in its older and newer versions.
constexpr std::array kUnits{Unit{"byte", Quantity::kBytes, 1},         Unit{"Kbyte", Quantity::kBytes, 1e3},
                            Unit{"Mbyte", Quantity::kBytes, 1e6},      Unit{"Gbyte", Quantity::kBytes, 1e9},
                            Unit{"Tbyte", Quantity::kBytes, 1e12},     Unit{"ns", Quantity::kSeconds, 1e-9},
                            Unit{"nsecond", Quantity::kSeconds, 1e-9}, Unit{"us", Quantity::kSeconds, 1e-6},
                            Unit{"usecond", Quantity::kSeconds, 1e-6}, Unit{"ms", Quantity::kSeconds, 1e-3},
                            Unit{"msecond", Quantity::kSeconds, 1e-3}, Unit{"s", Quantity::kSeconds, 1},
                            Unit{"second", Quantity::kSeconds, 1},     Unit{"hz", Quantity::kHertz, 1},
                            Unit{"Hz", Quantity::kHertz, 1},           Unit{"Khz", Quantity::kHertz, 1e3},
                            Unit{"Mhz", Quantity::kHertz, 1e6},        Unit{"MHz", Quantity::kHertz, 1e6},
                            Unit{"Ghz", Quantity::kHertz, 1e9},        Unit{"GHz", Quantity::kHertz, 1e9},
                            Unit{"cycle/s", Quantity::kHertz, 1},      Unit{"cycle/second", Quantity::kHertz, 1},
                            Unit{"cycle/us", Quantity::kHertz, 1e6},   Unit{"cycle/usecond", Quantity::kHertz, 1e6},
                            Unit{"cycle/ns", Quantity::kHertz, 1e9},   Unit{"cycle/nsecond", Quantity::kHertz, 1e9},
                            Unit{"%", Quantity::kShare, 0.01}};

/// The factor from `unit` to the quantity's SI unit; nothing if the unit is another quantity's. A count's unit is any
/// countable thing ("sector", "inst"), but no multiple of a measured unit.
std::optional<double> factor_of(std::string_view unit, Quantity quantity) {
  const auto known = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& row) { return row.name == unit; });
  if (quantity == Quantity::kCount) return known == kUnits.end() ? std::optional(1.0) : std::nullopt;
  if (known == kUnits.end() || known->quantity != quantity) return std::nullopt;
  return known->factor;
}

constexpr double kSectorBytes = 32;
constexpr const char* kDuration = "gpu__time_duration.sum";
/// A warp's cycles between two instructions, all states together.
constexpr const char* kWarpLatency = "smsp__average_warp_latency_per_inst_issued.ratio";

// Traffic of the data banks of shared memory and L1 is reported as a share of the peak: 32 banks of 4 bytes per cycle
// on every multiprocessor (CUDA C++ Programming Guide, "Compute Capabilities", shared memory, 5.x to 12.x). Unlike
// counts of warps' instructions, it includes TMA and wgmma.
constexpr double kSmemBytesPerCycle = 128;
constexpr const char* kBankReads = "l1tex__data_bank_reads.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kBankWrites = "l1tex__data_bank_writes.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kSmCycles = "sm__cycles_elapsed.sum";  // of all multiprocessors together

struct Metric {
  std::optional<double> KernelCounters::*counter;
  const char* name;
  Quantity quantity;
  double factor = 1;  ///< from the SI unit to the counter's
};

constexpr std::array kMetrics{
    Metric{&KernelCounters::sm_clock_hz, "sm__cycles_elapsed.avg.per_second", Quantity::kHertz},
    Metric{&KernelCounters::dram_read_bytes, "dram__bytes_read.sum", Quantity::kBytes},
    Metric{&KernelCounters::dram_write_bytes, "dram__bytes_write.sum", Quantity::kBytes},
    Metric{&KernelCounters::l2_read_bytes, "lts__t_sectors_srcunit_tex_op_read.sum", Quantity::kCount, kSectorBytes},
    Metric{&KernelCounters::l2_write_bytes, "lts__t_sectors_srcunit_tex_op_write.sum", Quantity::kCount, kSectorBytes},
    Metric{&KernelCounters::sm_read_bytes, "l1tex__m_xbar2l1tex_read_bytes.sum", Quantity::kBytes},
    Metric{&KernelCounters::smem_wavefronts, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", Quantity::kCount},
    Metric{&KernelCounters::bank_conflicts, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", Quantity::kCount},
    Metric{&KernelCounters::l2_hit_share, "lts__t_sector_hit_rate.pct", Quantity::kShare},
    Metric{&KernelCounters::occupancy_share, "sm__warps_active.avg.pct_of_peak_sustained_active", Quantity::kShare},
    Metric{&KernelCounters::tensor_pipe_share, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
           Quantity::kShare},
    Metric{&KernelCounters::fma_pipe_share, "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
           Quantity::kShare},
    Metric{&KernelCounters::issue_slot_share, "smsp__issue_active.avg.pct_of_peak_sustained_active", Quantity::kShare}};

struct Stall {
  std::optional<double> KernelCounters::*counter;
  const char* name;  ///< the profiler's
};

constexpr std::array kStalls{Stall{&KernelCounters::stall_long_scoreboard, "long_scoreboard"},
                             Stall{&KernelCounters::stall_short_scoreboard, "short_scoreboard"},
                             Stall{&KernelCounters::stall_mio_throttle, "mio_throttle"},
                             Stall{&KernelCounters::stall_lg_throttle, "lg_throttle"},
                             Stall{&KernelCounters::stall_barrier, "barrier"},
                             Stall{&KernelCounters::stall_dispatch, "dispatch_stall"},
                             Stall{&KernelCounters::stall_math_pipe_throttle, "math_pipe_throttle"},
                             Stall{&KernelCounters::stall_gmma, "gmma"},
                             Stall{&KernelCounters::stall_wait, "wait"},
                             Stall{&KernelCounters::stall_no_instruction, "no_instruction"},
                             Stall{&KernelCounters::stall_not_selected, "not_selected"},
                             Stall{&KernelCounters::stall_membar, "membar"},
                             Stall{&KernelCounters::stall_sleeping, "sleeping"},
                             Stall{&KernelCounters::stall_branch_resolve, "branch_resolving"},
                             Stall{&KernelCounters::stall_drain, "drain"},
                             Stall{&KernelCounters::stall_imc_miss, "imc_miss"},
                             Stall{&KernelCounters::stall_tex_throttle, "tex_throttle"}};

std::string stall_metric(const char* stall) {
  return fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", stall);
}

std::optional<double> value_of(const MetricRow& row, std::string_view metric, Quantity quantity) {
  const auto cell = row.find(metric);
  if (cell == row.end()) return std::nullopt;
  const auto number = metric_number(cell->second.text);
  const auto factor = factor_of(cell->second.unit, quantity);
  return number && factor && *number >= 0 ? std::optional(*number * *factor) : std::nullopt;
}

}  // namespace

std::optional<double> metric_number(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' || !std::isfinite(value) ? std::nullopt : std::optional(value);
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names{kDuration, kWarpLatency, kSmCycles, kBankReads, kBankWrites};
  for (const Metric& metric : kMetrics) names.emplace_back(metric.name);
  for (const Stall& stall : kStalls) names.push_back(stall_metric(stall.name));
  return names;
}

KernelCounters counters_of(const MetricRow& row) {
  KernelCounters counters;
  counters.duration_s = value_of(row, kDuration, Quantity::kSeconds).value_or(0);
  for (const Metric& metric : kMetrics) {
    if (const auto value = value_of(row, metric.name, metric.quantity))
      counters.*metric.counter = *value * metric.factor;
  }
  const auto cycles_of_all = value_of(row, kSmCycles, Quantity::kCount);
  const auto reads = value_of(row, kBankReads, Quantity::kShare), writes = value_of(row, kBankWrites, Quantity::kShare);
  if (cycles_of_all && reads && writes) counters.smem_bytes = (*reads + *writes) * *cycles_of_all * kSmemBytesPerCycle;
  const auto latency = value_of(row, kWarpLatency, Quantity::kCount);
  for (const Stall& stall : kStalls) {
    const auto cycles = value_of(row, stall_metric(stall.name), Quantity::kCount);
    if (cycles && latency && *latency > 0) counters.*stall.counter = *cycles / *latency;
  }
  return counters;
}

}  // namespace pgtune::tool

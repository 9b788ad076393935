// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/counters_view.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/measuring/stored_counters.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::tool {
namespace {

// From here on a roof is the limit, or near.
constexpr double kAtRoof = 0.8, kNearRoof = 0.6;
// Stalls and conflicts below it hardly affect a kernel's time.
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

/// Global memory is DRAM or L2: a kernel waits for the one that is near its peak, if any is.
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

namespace {

using nlohmann::json;

constexpr const char* kNothing = "-";
constexpr std::size_t kColumns = 4;  ///< columns of contenders in a row of tables
constexpr double kStallWorthShowing = 0.02;

using Number = std::optional<double>;
using Read = std::function<Number(const KernelCounters&)>;

std::string scaled(const Number& value, double factor, int decimals) {
  return value ? fmt::format("{:.{}f}", *value * factor, decimals) : kNothing;
}

struct Row {
  const char* title;
  Read read;
  double factor;
  int decimals;
};

Read member(Number KernelCounters::*counter) {
  return [counter](const KernelCounters& counters) { return counters.*counter; };
}

std::vector<Row> fixed_rows() {
  constexpr double kMega = 1e-6, kPercent = 100;
  return {{"ms under the profiler", [](const KernelCounters& c) { return Number(c.duration_s); }, 1e3, 3},
          {"SM clock, MHz", member(&KernelCounters::sm_clock_hz), kMega, 0},
          {"DRAM read, MB", member(&KernelCounters::dram_read_bytes), kMega, 1},
          {"DRAM written, MB", member(&KernelCounters::dram_write_bytes), kMega, 1},
          {"L2 read, MB", member(&KernelCounters::l2_read_bytes), kMega, 1},
          {"L2 written, MB", member(&KernelCounters::l2_write_bytes), kMega, 1},
          {"into SMs, MB", member(&KernelCounters::sm_read_bytes), kMega, 1},
          {"L2 hits, %", member(&KernelCounters::l2_hit_share), kPercent, 1},
          {"shared memory, MB", member(&KernelCounters::smem_bytes), kMega, 1},
          {"bank conflicts, %",
           [](const KernelCounters& c) {
             return c.bank_conflicts && c.smem_wavefronts && *c.smem_wavefronts > 0
                        ? Number(*c.bank_conflicts / *c.smem_wavefronts)
                        : std::nullopt;
           },
           kPercent, 1},
          {"tensor pipe, %", member(&KernelCounters::tensor_pipe_share), kPercent, 1},
          {"FMA pipe, %", member(&KernelCounters::fma_pipe_share), kPercent, 1},
          {"issue slots, %", member(&KernelCounters::issue_slot_share), kPercent, 1},
          {"occupancy, %", member(&KernelCounters::occupancy_share), kPercent, 1}};
}

/// "#1", "#2", ...; the baseline's.
std::string name_of(const CounterReport& report, std::size_t index) {
  return report.contenders[index].variant ? fmt::format("#{}", index + 1) : report.baseline;
}

Number share_of(const KernelCounters& counters, std::string_view stall) {
  for (const auto& [name, share] : counters.stalls()) {
    if (name == stall) return share;
  }
  return std::nullopt;
}

/// Stalls that are large enough for a row, in the order of the first contender that has any.
std::vector<std::string> shown_stalls(const std::vector<ContenderCounters>& contenders) {
  std::vector<std::string> shown;
  for (const ContenderCounters& contender : contenders) {
    if (!contender.counters) continue;
    for (const auto& [name, share] : contender.counters->stalls()) {
      if (share >= kStallWorthShowing && std::find(shown.begin(), shown.end(), name) == shown.end())
        shown.emplace_back(name);
    }
  }
  return shown;
}

/// The rules' statements on a contender.
std::vector<std::string> why(const CounterReport& report, const ContenderCounters& contender) {
  if (!contender.counters) return {};
  std::vector<std::string> lines = reasons(*contender.counters, contender.time_s, report.ceilings);
  const ContenderCounters& last = report.contenders.back();
  if (contender.variant && !last.variant && last.counters) {
    for (std::string& line : differences(*contender.counters, *last.counters, report.baseline))
      lines.push_back(std::move(line));
  }
  return lines;
}

std::string kernel_text(const KernelCounters& counters) {
  return counters.kernels > 1 ? fmt::format("{} kernels, the longest {}", counters.kernels, counters.kernel)
                              : counters.kernel;
}

}  // namespace

std::optional<CounterReport> counters_of(const db::Database& database, const StoredResult& result,
                                         const std::optional<Ceilings>& ceilings) {
  if (result.row.recorded) return std::nullopt;
  const std::vector<db::CountersRow> rows =
      db::find_counters(database, result.device, result.row.problem_key, result.row.conditions_key);
  CounterReport report{.baseline = baseline_name(result.answer), .ceilings = ceilings};
  for (ContenderCounters& contender : compared_contenders(result.answer, result.answer.baseline, 1)) {
    const db::CountersRow* const row =
        contender.variant ? find_row(rows, result.row.variant_origin.content_hash, contender.variant->key())
                          : find_row(rows, contender.algorithm);
    if (row == nullptr) continue;
    contender.counters = row->counters;
    contender.measured_at = row->measured_at;
    report.contenders.push_back(std::move(contender));
  }
  return report.contenders.empty() ? std::nullopt : std::optional(std::move(report));
}

CounterTable counter_table(const CounterReport& report) {
  CounterTable table;
  const auto add = [&](std::string title, const Read& read, double factor, int decimals) {
    CounterTable::Row row{std::move(title), {}};
    bool any = false;
    for (const ContenderCounters& contender : report.contenders) {
      const Number value = contender.counters ? read(*contender.counters) : std::nullopt;
      any = any || value;
      row.cells.push_back(scaled(value, factor, decimals));
    }
    if (any) table.rows.push_back(std::move(row));
  };
  for (const Row& row : fixed_rows()) add(row.title, row.read, row.factor, row.decimals);
  for (const std::string& stall : shown_stalls(report.contenders)) {
    std::string title = "stall " + stall + ", %";
    std::replace(title.begin(), title.end(), '_', ' ');
    add(
        std::move(title), [&](const KernelCounters& counters) { return share_of(counters, stall); }, 100, 1);
  }
  for (std::size_t i = 0; i < report.contenders.size(); ++i) {
    const ContenderCounters& contender = report.contenders[i];
    table.names.push_back(name_of(report, i));
    std::vector<std::string>& lines = table.why.emplace_back();
    if (!contender.missing.empty()) lines.push_back("no counters: " + contender.missing);
    if (contender.counters) lines.push_back(kernel_text(*contender.counters));
    for (std::string& line : why(report, contender)) lines.push_back(std::move(line));
  }
  return table;
}

std::vector<std::string> counter_reasons(const CounterReport& report) {
  return report.contenders.empty() || !report.contenders.front().variant ? std::vector<std::string>()
                                                                         : why(report, report.contenders.front());
}

std::string counters_text(const CounterReport& report) {
  if (!report.missing.empty()) return fact("counters", "none: " + report.missing);
  const CounterTable all = counter_table(report);
  std::string out;
  for (std::size_t begin = 0; begin < all.names.size(); begin += kColumns) {
    const std::size_t end = std::min(begin + kColumns, all.names.size());
    std::vector<TextTable::Column> columns{{"counters"}};
    for (std::size_t i = begin; i < end; ++i) columns.push_back({all.names[i], Align::kRight});
    TextTable table(std::move(columns));
    for (const CounterTable::Row& row : all.rows) {
      std::vector<std::string> cells{row.title};
      cells.insert(cells.end(), row.cells.begin() + static_cast<std::ptrdiff_t>(begin),
                   row.cells.begin() + static_cast<std::ptrdiff_t>(end));
      table.add_row(std::move(cells));
    }
    out += table.text() + '\n';
  }
  for (std::size_t i = 0; i < all.names.size(); ++i) {
    const char* label = all.names[i].c_str();
    for (const std::string& line : all.why[i]) out += fact(std::exchange(label, "why"), line);
  }
  for (const ContenderCounters& contender : report.contenders) {
    if (!contender.counters) continue;
    out += fact("counters", contender.counters->profiler + ", of one launch each" +
                                (contender.measured_at.empty() ? "" : ", " + contender.measured_at));
    break;
  }
  return out;
}

json counters_json(const CounterReport& report) {
  json contenders = json::array();
  for (const ContenderCounters& contender : report.contenders) {
    json row = {{"counters", or_null(contender.counters)},
                {"missing", contender.missing.empty() ? json(nullptr) : json(contender.missing)},
                {"measured_at", contender.measured_at.empty() ? json(nullptr) : json(contender.measured_at)},
                {"why", why(report, contender)}};
    if (contender.variant) {
      row["template"] = contender.variant->template_name;
      row["variant"] = contender.variant->key();
    } else {
      row["algorithm"] = contender.algorithm;
    }
    contenders.push_back(std::move(row));
  }
  return {{"missing", report.missing.empty() ? json(nullptr) : json(report.missing)},
          {"contenders", std::move(contenders)}};
}

}  // namespace pgtune::tool

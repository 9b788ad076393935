// SPDX-License-Identifier: MIT
#include "preload/program/serve_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

using preload::Refusal;

/// Calls that were not served, by reason.
std::map<Refusal, std::uint64_t> refusals_of(const RecordedGemm& gemm, bool tf32) {
  std::map<Refusal, std::uint64_t> out;
  std::uint64_t counted = gemm.served_calls;
  for (std::size_t i = 0; i < gemm.refused_calls.size(); ++i) {
    if (gemm.refused_calls[i] == 0) continue;
    out[static_cast<Refusal>(static_cast<std::size_t>(preload::kFirstOfServing) + i)] = gemm.refused_calls[i];
    counted += gemm.refused_calls[i];
  }
  // The key alone is the reason of those that were not counted.
  if (const Refusal refusal = refusal_of(gemm.key, tf32); gemm.all_calls() > counted && refusal != Refusal::kNone)
    out[refusal] = gemm.all_calls() - counted;
  return out;
}

}  // namespace

bool any_wrong(const RecordedGemms& recorded) {
  return std::any_of(recorded.gemms.begin(), recorded.gemms.end(),
                     [](const RecordedGemm& gemm) { return gemm.wrong_calls > 0; });
}

std::vector<std::string> serve_report(const RecordedGemms& recorded, bool tf32) {
  if (recorded.gemms.empty()) return unseen_report(recorded);
  struct Sum {
    double time_s = 0;
    std::uint64_t calls = 0;
    void add(const RecordedGemm& gemm, std::uint64_t some) {
      time_s += gemm.time_s * static_cast<double>(some) / static_cast<double>(gemm.all_calls());
      calls += some;
    }
  };
  std::map<Refusal, Sum> refused;
  Sum served, by_families;
  std::uint32_t most_mib = 0;  // of workspace that was lacking
  for (const RecordedGemm& gemm : recorded.gemms) {
    served.add(gemm, gemm.served_calls);
    if (gemm.is_of_family) by_families.add(gemm, gemm.served_calls);
    for (const auto& [refusal, calls] : refusals_of(gemm, tf32)) {
      refused[refusal].add(gemm, calls);
      if (refusal == Refusal::kWorkspace) most_mib = std::max(most_mib, gemm.workspace_mib);
    }
  }
  const auto count = [](std::uint64_t calls) { return count_text(static_cast<std::int64_t>(calls)); };
  const auto percent = [&](const Sum& sum) {
    return fmt::format("{:.1f} %", recorded.time_s() > 0 ? sum.time_s / recorded.time_s() * 100 : 0);
  };
  std::vector<std::string> lines{fmt::format("Served {} of the GEMM time: {} of {} calls.", percent(served),
                                             count(served.calls), count(recorded.all_calls()))};
  if (by_families.calls > 0)
    lines.push_back(fmt::format("Of these by families, {}: {} calls.", percent(by_families), count(by_families.calls)));
  std::vector<std::pair<Refusal, Sum>> sorted(refused.begin(), refused.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.time_s > b.second.time_s; });
  for (const auto& [refusal, sum] : sorted)
    lines.push_back(fmt::format(
        "Not served, {}, {}: {}{}.", percent(sum), counted(sum.calls, "call"),
        preload::kRefusalTexts[static_cast<std::size_t>(refusal)],
        refusal == Refusal::kWorkspace ? fmt::format(": up to {} MiB. See --workspace", most_mib) : std::string()));
  std::uint64_t checked = 0, keys = 0, wrong = 0;
  for (const RecordedGemm& gemm : recorded.gemms) {
    checked += gemm.checked_calls;
    keys += gemm.checked_calls > 0 ? 1 : 0;
    wrong += gemm.wrong_calls;
  }
  if (checked > 0)
    lines.push_back(fmt::format("Checked {} of {}: {}.", counted(checked, "call"), counted(keys, "problem"),
                                wrong == 0 ? "all agree with cuBLAS" : fmt::format("{} wrong", count(wrong))));
  for (std::string& line : unseen_report(recorded)) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> unseen_report(const RecordedGemms& recorded) {
  std::vector<std::string> lines;
  if (recorded.lacked_room)
    lines.push_back(
        fmt::format("Not recorded, and not served: processes without {} MiB of room in the folder of temporary files, "
                    "each. Set TMPDIR to one with room, and look at ulimit -f.",
                    preload::kLedgerBytes >> 20U));
  else if (recorded.gemms.empty())
    lines.emplace_back("No call of cuBLAS was seen, or it refused them all.");
  std::set<std::string> libraries = recorded.uncalled;
  if (libraries.erase("libcuda.so.1") > 0)
    lines.emplace_back(
        "Not seen: a process that used CUDA and no shared cuBLAS. It may link cuBLAS statically, or have kernels of "
        "its own.");
  if (!libraries.empty())
    lines.push_back(
        fmt::format("Not seen: {}, loaded and never called by name. JAX, for one, looks its functions up by dlsym.",
                    fmt::join(libraries, ", ")));
  if (recorded.lost_calls > 0)
    lines.push_back(fmt::format("Not seen: {} calls of more problems than a process can record.",
                                count_text(static_cast<std::int64_t>(recorded.lost_calls))));
  std::uint64_t captured = 0, replayed = 0;
  for (const RecordedGemm& gemm : recorded.gemms) captured += gemm.captured_calls, replayed += gemm.replayed_calls;
  if (captured > 0 && replayed == 0)
    lines.emplace_back("Calls in CUDA graphs count once, at capture: no launch of these graphs was seen.");
  return lines;
}

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
#include "preload/program/serve_report.hpp"

#include <fmt/format.h>

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

double served_share(const RecordedGemms& recorded) {
  double served_s = 0;
  for (const RecordedGemm& gemm : recorded.gemms)
    served_s += gemm.time_s * static_cast<double>(gemm.served_calls) / static_cast<double>(gemm.all_calls());
  return recorded.time_s() > 0 ? served_s / recorded.time_s() : 0;
}

bool any_wrong(const RecordedGemms& recorded) {
  return std::any_of(recorded.gemms.begin(), recorded.gemms.end(),
                     [](const RecordedGemm& gemm) { return gemm.wrong_calls > 0; });
}

std::string refusal_text(const RecordedGemm& gemm, bool tf32) {
  const auto refusals = refusals_of(gemm, tf32);
  const auto most = std::max_element(refusals.begin(), refusals.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == refusals.end() ? "" : preload::kRefusalTexts[static_cast<std::size_t>(most->first)];
}

std::vector<std::string> serve_report(const RecordedGemms& recorded, bool tf32) {
  struct Sum {
    double time_s = 0;
    std::uint64_t calls = 0;
  };
  std::map<Refusal, Sum> refused;
  std::uint64_t served = 0;
  for (const RecordedGemm& gemm : recorded.gemms) {
    served += gemm.served_calls;
    for (const auto& [refusal, calls] : refusals_of(gemm, tf32)) {
      Sum& sum = refused[refusal];
      sum.time_s += gemm.time_s * static_cast<double>(calls) / static_cast<double>(gemm.all_calls());
      sum.calls += calls;
    }
  }
  const auto count = [](std::uint64_t calls) { return count_text(static_cast<std::int64_t>(calls)); };
  std::vector<std::string> lines{fmt::format("Served {:.1f} % of the GEMM time: {} of {} calls.",
                                             served_share(recorded) * 100, count(served), count(recorded.all_calls()))};
  std::vector<std::pair<Refusal, Sum>> sorted(refused.begin(), refused.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.time_s > b.second.time_s; });
  for (const auto& [refusal, sum] : sorted)
    lines.push_back(fmt::format("Not served, {:.1f} %, {} calls: {}.", sum.time_s / recorded.time_s() * 100,
                                count(sum.calls), preload::kRefusalTexts[static_cast<std::size_t>(refusal)]));
  std::uint64_t checked = 0, keys = 0, wrong = 0;
  for (const RecordedGemm& gemm : recorded.gemms) {
    checked += gemm.checked_calls;
    keys += gemm.checked_calls > 0 ? 1 : 0;
    wrong += gemm.wrong_calls;
  }
  if (checked > 0)
    lines.push_back(fmt::format("Checked {} calls of {} problems: {}.", count(checked), count(keys),
                                wrong == 0 ? "all agree with cuBLAS" : fmt::format("{} are wrong", count(wrong))));
  return lines;
}

}  // namespace pgtune::tool

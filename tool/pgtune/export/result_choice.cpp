// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/result_choice.hpp"

#include <algorithm>

namespace pgtune::tool {

bool is_better(const StoredResult& a, const StoredResult& b) {
  if (a.row.source != b.row.source) return a.row.source == Source::kGpu;
  return a.row.session > b.row.session;
}

bool same_device_class(const DeviceInfo& a, const DeviceInfo& b) {
  return a.name == b.name && a.architecture == b.architecture && a.sm_count == b.sm_count;
}

std::vector<StoredResult> best_of_each_problem(const std::vector<StoredResult>& results) {
  std::vector<StoredResult> chosen;
  for (const StoredResult& result : results) {
    const auto same = std::find_if(chosen.begin(), chosen.end(), [&](const StoredResult& other) {
      return same_device_class(other.device, result.device) && other.problem == result.problem;
    });
    if (same == chosen.end()) {
      chosen.push_back(result);
    } else if (is_better(result, *same)) {
      *same = result;
    }
  }
  return chosen;
}

}  // namespace pgtune::tool

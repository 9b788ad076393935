// SPDX-License-Identifier: MIT
#include "tuner/device/neighbour_clocks.hpp"

#include <algorithm>

namespace pgtune::device {

int NeighbourClocks::busy() const { return at_work_ ? std::max(at_work_->load() - 1, 0) : 0; }

void NeighbourClocks::take(int busy_before, const protocol::RoundRequest& request,
                           const protocol::RoundReport& report) {
  if (!at_work_ || busy() != busy_before) return;
  for (std::size_t i = 0; i < request.contenders.size(); ++i) {
    const BaselineAlgorithm* const algorithm = algorithm_of(request.contenders[i]);
    if (algorithm == nullptr || !report.samples[i] || report.samples[i]->sm_clock_hz <= 0) continue;
    const auto [group, is_new] = groups_.try_emplace({request.stage, algorithm->index}, next_group_);
    if (is_new) ++next_group_;
    clocks_.push_back({group->second, busy_before, report.samples[i]->sm_clock_hz});
  }
}

}  // namespace pgtune::device

// SPDX-License-Identifier: MIT
#include "tuner/search/judged.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/search/expected_missed.hpp"

namespace pgtune::search {

void Judged::report(std::size_t index, const Observation& observation) {
  strategy_->report(index, observation);
  if (observation.outcome == OutcomeKind::kNotRecorded) return;
  ++tried_;
  if (observation.outcome != OutcomeKind::kOk || observation.cut) return;
  const double own = std::log(observation.time_s), off = own - expected_.log_times[index];
  ++timed_;
  off_ += off;
  off_squares_ += off * off;
  fastest_.insert(std::upper_bound(fastest_.begin(), fastest_.end(), own), own);
  if (fastest_.size() > kPlace) fastest_.pop_back();
}

std::optional<double> Judged::expected_missed() const {
  if (timed_ < kLeast) return std::nullopt;
  // Where expectations turn out to be further off than elsewhere, they are taken for what they are here.
  const auto n = static_cast<double>(timed_);
  const double here = std::sqrt(std::max(0.0, (off_squares_ - off_ * off_ / n) / (n - 1)));
  return search::expected_missed(fastest_.back() - fastest_.front(), std::max(expected_.deviation, here), tried_,
                                 expected_.log_times.size());
}

}  // namespace pgtune::search

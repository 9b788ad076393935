// SPDX-License-Identifier: MIT
#include "tuner/search/judged.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/search/expected_missed.hpp"

namespace pgtune::search {

Judged::Judged(std::unique_ptr<Strategy> strategy, Expectation expected, bool knows, std::vector<bool> in_preset)
    : strategy_(std::move(strategy)),
      expected_(std::move(expected)),
      knows_(knows),
      in_preset_(std::move(in_preset)),
      all_{0, expected_.log_times.size()},
      presets_{0, in_preset_.empty()
                      ? all_.variants
                      : static_cast<std::size_t>(std::count(in_preset_.begin(), in_preset_.end(), true))} {}

void Judged::report(std::size_t index, const Observation& observation) {
  strategy_->report(index, observation);
  ++all_.tried;
  if (in_preset_.empty() || in_preset_[index]) ++presets_.tried;
  if (observation.outcome != OutcomeKind::kOk || observation.cut) return;
  const double own = std::log(observation.time_s), off = own - expected_.log_times[index];
  ++timed_;
  off_ += off;
  off_squares_ += off * off;
  fastest_.insert(std::upper_bound(fastest_.begin(), fastest_.end(), own), own);
  if (fastest_.size() > kPlace) fastest_.pop_back();
}

std::optional<ExpectedMiss> Judged::expected_miss() const {
  if (!knows_) return presets_.tried < presets_.variants ? std::nullopt : std::optional(ExpectedMiss{});
  if (timed_ < kLeast) return std::nullopt;
  const double of_all = missed(all_);
  return ExpectedMiss{of_all, std::min(of_all, missed(presets_))};  // the best of all is no slower than the presets'
}

double Judged::missed(const Part& part) const {
  // If predictions are further off here than on other problems, the deviation seen here counts.
  const auto n = static_cast<double>(timed_);
  const double here = std::sqrt(std::max(0.0, (off_squares_ - off_ * off_ / n) / (n - 1)));
  return expected_missed(fastest_.back() - fastest_.front(), std::max(expected_.deviation, here), part.tried,
                         part.variants);
}

}  // namespace pgtune::search

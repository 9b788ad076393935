// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/energy/energy_tracker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tuner/util/middle.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::size_t kCalibrationPeriods = 5;
constexpr double kMinSteps = 10;       // fewer, and one odd step decides the mean
constexpr double kStuck_s = 3;         // an H200's counter moves every 100 ms, idle or not
constexpr double kPatienceSteps = 50;  // for a step that was caught well enough
constexpr double kMargin = 1.2;        // the window that is recommended must not be refused in turn

}  // namespace

EnergyTracker::EnergyTracker(const protocol::EnergyRequest& request, double now_s)
    : lead_in_s_(request.lead_in_s),
      window_s_(request.window_s),
      max_uncertainty_(request.max_uncertainty),
      begin_s_(now_s),
      last_change_s_(now_s) {}

Result<EnergyTracker::Signal> EnergyTracker::add(const EnergyReading& sample) {
  const bool moved = sample.energy_j && last_ && *sample.energy_j != *last_->energy_j;
  if (moved && *sample.energy_j < *last_->energy_j) {
    return fail(ErrorKind::kEnvironment,
                fmt::format("the GPU's energy counter went backwards, from {:.3f} J to {:.3f} J: it wrapped, or the "
                            "driver was loaded anew; measure again",
                            *last_->energy_j, *sample.energy_j));
  }
  if (!moved) {
    if (sample.energy_j) last_ = sample;
    if (sample.time_s - last_change_s_ <= kStuck_s) return Signal::kNone;
    return fail(ErrorKind::kEnvironment,
                fmt::format("the GPU's energy counter has not moved for {} s, so there is no energy to measure; check "
                            "with nvidia-smi whether this GPU reports its power",
                            kStuck_s));
  }
  const EnergyStep step{(last_->time_s + sample.time_s) / 2, sample.time_s - last_->time_s, *sample.energy_j};
  last_ = sample;
  last_change_s_ = sample.time_s;
  return start_ ? inside_window(step) : before_window(step);
}

Result<EnergyTracker::Signal> EnergyTracker::before_window(const EnergyStep& step) {
  if (previous_) periods_s_.push_back(step.time_s - previous_->time_s);
  gaps_s_.push_back(step.gap_s);
  previous_ = step;
  if (step.time_s - begin_s_ < lead_in_s_ || periods_s_.size() < kCalibrationPeriods) return Signal::kStep;
  period_s_ = middle_of(periods_s_);
  gap_s_ = middle_of(gaps_s_);
  if (window_s_ < shortest_window_s()) return too_short();
  // Each edge gets half of what the window may be wrong by. One in a slow reading is passed over.
  if (step.gap_s <= max_uncertainty_ * window_s_ / 2) {
    start_ = step;
    return Signal::kStarted;
  }
  const bool patient = static_cast<double>(periods_s_.size()) < lead_in_s_ / period_s_ + kPatienceSteps;
  if (patient) return Signal::kStep;
  return too_short();
}

Result<EnergyTracker::Signal> EnergyTracker::inside_window(const EnergyStep& step) {
  const double since_s = step.time_s - previous_->time_s;
  steps_ += std::max<std::int64_t>(1, std::llround(since_s / period_s_));
  previous_ = step;
  const double length_s = step.time_s - start_->time_s;
  if (length_s < window_s_) return Signal::kStep;
  if (uncertainty(step) <= max_uncertainty_) {
    end_ = step;
    return Signal::kEnded;
  }
  if (length_s < window_s_ + kPatienceSteps * period_s_) return Signal::kStep;
  gap_s_ = std::max(gap_s_, step.gap_s);
  return too_short();
}

double EnergyTracker::uncertainty(const EnergyStep& step) const {
  return (start_->gap_s + step.gap_s) / (step.time_s - start_->time_s);
}

double EnergyTracker::shortest_window_s() const {
  return std::max(2 * gap_s_ / max_uncertainty_, kMinSteps * period_s_);
}

tl::unexpected<Error> EnergyTracker::too_short() const {
  const double would_do_s = std::ceil(kMargin * shortest_window_s() * 10) / 10;
  return fail(ErrorKind::kUsage,
              fmt::format("an energy window of {:g} s is too short: this GPU's energy counter moves every {:.0f} ms, a "
                          "step is caught to {:.1f} ms, and the window must hold {:g} steps and be certain to {:g} %; "
                          "{:g} s would do",
                          window_s_, period_s_ * 1e3, gap_s_ * 1e3, kMinSteps, max_uncertainty_ * 100, would_do_s));
}

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
#include "tuner/session/time_estimate.hpp"

#include <algorithm>

namespace pgtune::session {
namespace {

/// Recent durations count more once this many are in: the first ones include warming up.
constexpr std::size_t kMemory = 64;
constexpr std::size_t kEnough = 4;

void update_mean(double& mean_s, std::size_t& count, double duration_s) {
  ++count;
  mean_s += (duration_s - mean_s) / static_cast<double>(std::min(count, kMemory));
}

}  // namespace

void TimeEstimate::build_finished(double duration_s) { update_mean(build_mean_s_, builds_, duration_s); }
void TimeEstimate::trial_finished(double duration_s) { update_mean(trial_mean_s_, trials_, duration_s); }

std::optional<double> TimeEstimate::remaining_s(std::size_t builds_left, std::size_t trials_left) const {
  if (builds_ < kEnough || trials_ < kEnough) return std::nullopt;
  const double compile_s =
      static_cast<double>(builds_left) * build_mean_s_ / static_cast<double>(std::max<std::size_t>(build_slots_, 1));
  return std::max(compile_s, static_cast<double>(trials_left) * trial_mean_s_);
}

double expected_final_s(const Options& options) {
  constexpr double kBlock_s = 0.06;  // a final's block with its lead-in
  constexpr int kReferences = 2;
  return kBlock_s * (std::max(options.finalists, 1) + kReferences) * options.final_rounds;
}

}  // namespace pgtune::session

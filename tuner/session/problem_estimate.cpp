// SPDX-License-Identifier: MIT
#include "tuner/session/problem_estimate.hpp"

#include <algorithm>

#include "tuner/session/time_estimate.hpp"

namespace pgtune::session {
namespace {

/// Of an SM of sm_90 in a clock: floating point operations on CUDA cores, on tensor cores with operands of one bit (of
/// 8 bits an eighth of it), and a share of the DRAM's bytes.
constexpr double kCudaCoreFlops = 256, kTensorFlopsOfBit = 65'536, kDramBytes = 16;
/// Opening, data, baseline, noise floor, verification.
constexpr double kAround_s = 6;
/// Of a trial: its checks, and what is launched beside them.
constexpr double kTrial_s = 0.1, kLaunchesOfTrial = 60;
/// Where nobody sets a budget.
constexpr double kUsualTrials = 300;
/// A problem that multiplies for at least so long in a launch, and is not held up by DRAM, meets the power cap as a
/// rule.
constexpr double kCapped_s = 100e-6;

}  // namespace

double expected_search_s(const Problem& problem, const DeviceInfo& device, const SessionOptions& options) {
  const double bits = 8.0 * static_cast<double>(element_bytes(problem.dtype));
  const double flops = problem.dtype == Dtype::kF32 ? kCudaCoreFlops : kTensorFlopsOfBit / bits;
  const double sms = std::max(1, device.sm_count), clock_hz = std::max(1e9, device.max_sm_clock_hz);
  const double compute_s = problem.flops() / (flops * sms * clock_hz);
  const double dram_s = static_cast<double>(problem.operand_bytes()) / (kDramBytes * sms * clock_hz);
  const double launch_s = std::max(compute_s, dram_s);
  const bool capped = compute_s >= kCapped_s && compute_s >= dram_s && options.conditions.regime == Regime::kSustained;
  const Sampling sampling = capped ? Sampling::kSettled : Sampling::kShort;

  const double trials = options.budget.trials ? static_cast<double>(*options.budget.trials) : kUsualTrials;
  double screening_s = trials * (kTrial_s + kLaunchesOfTrial * launch_s);
  const double rounds_s = expected_race_s(options, launch_s, sampling) + expected_final_s(options, launch_s, sampling);
  if (options.budget.seconds)
    screening_s =
        std::min(screening_s, std::max(0.0, *options.budget.seconds - std::min(rounds_s, *options.budget.seconds / 2)));
  return kAround_s + screening_s + rounds_s;
}

}  // namespace pgtune::session

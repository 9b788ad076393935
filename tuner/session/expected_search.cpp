// SPDX-License-Identifier: MIT
#include "tuner/session/expected_search.hpp"

#include <algorithm>

#include "tuner/session/rounds/round_plan.hpp"

namespace pgtune::session {
namespace {

// Rates of an H200, from the finals of its recordings. Other GPUs are slower or faster at everything, which changes no
// comparison of problems by much.
constexpr double kBytesPerSecond = 4e12;
constexpr double kShortestLaunch_s = 3e-6;

double flops_per_second(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return 52e12;
    case Dtype::kTf32:
      return 390e12;
    case Dtype::kTf32x3:
      return 130e12;
    case Dtype::kF16:
    case Dtype::kBf16:
      return 720e12;
    case Dtype::kE4m3:
    case Dtype::kE5m2:
    case Dtype::kInt8:
      return 1300e12;
  }
  return 52e12;
}

/// Problems whose arithmetic keeps tensor cores busy for longer than this in a launch meet the power cap: so do 96 % of
/// 253 recorded ones, and those that stay below it do not. Float32 on CUDA cores draws less.
constexpr double kCappedArithmetic_s = 3e-6;

/// Variants that presets hold worth trying: the median of the 46 problems of configs/shapes/gemm.txt.
constexpr double kUsualVariants = 250;
constexpr double kBuild_s = 1;      // NVRTC, of a variant, on one core
constexpr double kTrial_s = 0.05;   // checks and the way to the worker and back
constexpr int kTrialLaunches = 12;  // of a variant as slow as the baseline, beyond the shortest sample
constexpr double kScreenSample_s = 0.01;
constexpr double kPreparing_s = 1;  // data, cuBLASLt's algorithms, verification
constexpr double kSteadyRun_s = 1;
constexpr double kEnergyWindows_s = 20;
constexpr double kLeastVariants = 8;     // whatever the time
constexpr double kShareOfBudget = 0.25;  // of steady run and floor

}  // namespace

ExpectedSearch expected_search(const Problem& problem, const SessionOptions& options, std::size_t compile_workers) {
  const double arithmetic_s = problem.flops() / flops_per_second(problem.dtype);
  const double launch_s =
      kShortestLaunch_s + std::max(arithmetic_s, static_cast<double>(problem.operand_bytes()) / kBytesPerSecond);
  ExpectedSearch expected;
  if (problem.dtype != Dtype::kF32 && options.conditions.regime == Regime::kSustained &&
      arithmetic_s > kCappedArithmetic_s)
    expected.sampling = Sampling::kSettled;

  const bool settled = expected.sampling == Sampling::kSettled;
  double baseline_s =
      settled ? kSteadyRun_s : expected_round_s({kFloorSample_s, 0}, 2, launch_s) * options.floor_rounds;
  if (options.budget.seconds) baseline_s = std::min(baseline_s, kShareOfBudget * *options.budget.seconds);
  const double before_s = kPreparing_s + baseline_s;
  const double rounds_s =
      expected_race_s(options, launch_s, expected.sampling) + expected_final_s(options, launch_s, expected.sampling);
  const double variants =
      options.budget.trials ? std::min(static_cast<double>(*options.budget.trials), kUsualVariants) : kUsualVariants;
  const double variant_s = std::max(kBuild_s / static_cast<double>(std::max<std::size_t>(compile_workers, 1)),
                                    kTrial_s + std::max(kScreenSample_s, kTrialLaunches * launch_s));
  double searching_s = before_s + variants * variant_s + rounds_s;
  if (options.budget.seconds) {
    const double reserve_s =
        reserved_for_rounds_s(options, launch_s, expected.sampling, *options.budget.seconds - before_s);
    // There are never less than half of the rounds, whatever was kept for them.
    const double until_rounds_s =
        std::max(*options.budget.seconds - reserve_s, before_s + std::min(kLeastVariants, variants) * variant_s);
    searching_s = std::min(searching_s, until_rounds_s + std::max(reserve_s, rounds_s / 2));
  }
  const bool energy = options.measure_energy || options.objective != Objective::kTime;
  expected.seconds = searching_s + (energy ? kEnergyWindows_s : 0);
  return expected;
}

}  // namespace pgtune::session

// SPDX-License-Identifier: MIT
#include "tuner/session/expected_search.hpp"

#include <algorithm>
#include <optional>

#include "tuner/model/sampling.hpp"
#include "tuner/session/rounds/energy.hpp"
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
constexpr double kPreparing_s = 0.8;     // data, cuBLASLt's algorithms
constexpr double kWarmUp_s = 1;          // before the noise floor
constexpr double kVerifying_s = 1;       // data of its own, and launches of the winner and of what is near it
constexpr double kLeastVariants = 8;     // whatever the time
constexpr double kShareOfBudget = 0.25;  // of steady run and floor
// Rounds have fewer contenders than there may be: medians of the recordings h100-*.db, over what round_plan.hpp
// expects.
constexpr double kUsualShort = 0.75, kUsualSettled = 0.9;

/// Steady run and noise floor.
double before_search_s(const SessionOptions& options, double launch_s, Sampling sampling) {
  double sum_s = 0;
  if (options.conditions.regime == Regime::kSustained && !options.sampling)
    sum_s += expected_sample_s({kSettledSample.sample_s, kLeadInAfterIdling_s}, launch_s);
  if (sampling == Sampling::kShort && !options.only_chooses)
    sum_s += kWarmUp_s + expected_round_s({kFloorSample_s, 0}, 2, launch_s) * options.floor_rounds;
  return options.budget.seconds ? std::min(sum_s, kShareOfBudget * *options.budget.seconds) : sum_s;
}

}  // namespace

ExpectedSearch expected_search(const Problem& problem, const SessionOptions& options, std::size_t compile_workers) {
  const double arithmetic_s = problem.flops() / flops_per_second(problem.dtype);
  const double launch_s =
      kShortestLaunch_s + std::max(arithmetic_s, static_cast<double>(problem.operand_bytes()) / kBytesPerSecond);
  ExpectedSearch expected;
  expected.launch_s = launch_s;
  if (problem.dtype != Dtype::kF32 && options.conditions.regime == Regime::kSustained &&
      arithmetic_s > kCappedArithmetic_s)
    expected.sampling = Sampling::kSettled;

  const std::optional<double>& budget_s = options.budget.seconds;
  const double before_s = kPreparing_s + before_search_s(options, launch_s, expected.sampling);
  // What is asked for is used, if the strategy goes on where the presets end and does not stop when little is left.
  const bool uses_all = options.strategy == search::kDefaultStrategy && !options.budget.acceptable_miss;
  double variants = options.budget.trials ? static_cast<double>(*options.budget.trials) : kUsualVariants;
  if (!uses_all) variants = std::min(variants, kUsualVariants);
  const double variant_s = std::max(kBuild_s / static_cast<double>(std::max<std::size_t>(compile_workers, 1)),
                                    kTrial_s + std::max(kScreenSample_s, kTrialLaunches * launch_s));
  double until_rounds_s = before_s + variants * variant_s;
  std::optional<double> left_s;
  if (budget_s) {
    const double reserve_s = reserved_for_rounds_s(options, launch_s, expected.sampling, *budget_s - before_s);
    const double in_budget_s =
        std::max(*budget_s - reserve_s, before_s + std::min(kLeastVariants, variants) * variant_s);
    until_rounds_s = uses_all && !options.budget.trials ? in_budget_s : std::min(until_rounds_s, in_budget_s);
    left_s = *budget_s - until_rounds_s;
  }
  const double usual = expected.sampling == Sampling::kSettled ? kUsualSettled : kUsualShort;
  expected.seconds = until_rounds_s + usual * expected_rounds_s(options, launch_s, expected.sampling, left_s);
  if (!options.only_chooses) expected.seconds += kVerifying_s;
  const bool every = options.objective != Objective::kTime;
  if (every || options.measure_energy) {
    const double energy_s = expected_energy_s(every ? static_cast<std::size_t>(std::max(options.finalists, 1)) : 1);
    // No window is begun that would outlast the budget.
    expected.seconds += budget_s ? std::clamp(*budget_s - expected.seconds, 0.0, energy_s) : energy_s;
  }
  return expected;
}

}  // namespace pgtune::session

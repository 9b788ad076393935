// SPDX-License-Identifier: MIT
// Everything that lives as long as one problem is current.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/measure/checked_problem.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

/// A variant kept loaded for the rounds of a final.
struct Finalist {
  std::string cubin_path;
  LaunchPlan plan;
  std::unique_ptr<LoadedVariant> variant;
  std::unique_ptr<LaunchSeries> series;  ///< calibrated
  double per_launch_s = 0;
};

class CurrentProblem {
 public:
  /// Errors as Measurer::prepare. `context` must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<CurrentProblem>> create(const MeasureContext& context,
                                                                      const protocol::PrepareRequest& request);

  [[nodiscard]] CudaResult<std::unique_ptr<LoadedVariant>> load(const BuildInfo& build, const LaunchPlan& plan) const {
    return checked_->load(build, plan);
  }
  /// The finalist with this build and plan, loaded and calibrated at its first round. Owned by this object.
  [[nodiscard]] CudaResult<Finalist*> finalist(const BuildInfo& build, const LaunchPlan& plan);
  /// Unloads finalists that are not in `keep`.
  void keep_finalists(const std::vector<const Finalist*>& keep);

  /// The finalist with this build and plan, verified as the request says. A failure is the variant's fault. Leaves data
  /// and reference as it found them.
  [[nodiscard]] CudaResult<protocol::VerifyReport> verify(const protocol::VerifyRequest& request);

  [[nodiscard]] LaunchSeries make_series(Launchable& launchable) const { return checked_->make_series(launchable); }
  [[nodiscard]] const Conditions& conditions() const { return conditions_; }
  [[nodiscard]] Checker& checker() { return checked_->checker(); }
  [[nodiscard]] Baseline& baseline() { return *baseline_; }
  /// The baseline's, with what was counted in the data and what this problem's checks go without.
  [[nodiscard]] BaselineReport report() const;

 private:
  CurrentProblem(const MeasureContext& context, const Conditions& conditions)
      : context_(&context), conditions_(conditions) {}
  [[nodiscard]] static ProblemMemory memory_of(const Problem& problem);
  [[nodiscard]] Result<std::unique_ptr<Baseline>> make_gemm_baseline(const protocol::PrepareRequest& request);
  [[nodiscard]] Result<std::unique_ptr<Baseline>> make_operation_baseline(const protocol::PrepareRequest& request);
  /// Errors: usage where they make no sense as flops and bytes.
  [[nodiscard]] Result<void> count_data(const Problem& problem);

  const MeasureContext* context_;
  Conditions conditions_;
  std::unique_ptr<CheckedProblem> checked_;
  std::vector<NamedScalar> counts_;  ///< BaselineReport::counts
  std::unique_ptr<Baseline> baseline_;
  std::vector<std::unique_ptr<Finalist>> finalists_;
};

}  // namespace pgtune::gpu

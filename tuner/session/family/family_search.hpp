// SPDX-License-Identifier: MIT
// The search of a family: which M are measured, which variants there, which kernels serve which M, and what that loses
// at M that took no part. family_search.cpp shows all of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/device/device.hpp"
#include "tuner/model/family.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/store.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::session {

inline constexpr std::int64_t kExplored = 24;  ///< variants tried at an anchor
/// Seconds of each probe's plain search, where the user limits nothing: enough for some forty variants, after which
/// searches on tables lose 0.0 % in the median, and 2.3 in the 90th percentile where the model knows nothing of the
/// type (docs/results/strategies.csv).
inline constexpr double kProbeSearch_s = 7;

struct FamilyRequest {
  Problem problem;  ///< the one with the largest M; leading dimensions do not depend on M
  std::int64_t first_m = 1;
  std::size_t kernels = 16;  ///< at most
  std::size_t probes = 8;
  /// All kernels add the products of an element in one order: that of one accumulator, by a name that begins with
  /// "plain" or "exact".
  bool one_order = false;
};

/// What will be measured, known beforehand.
struct FamilyPlan {
  std::vector<std::int64_t> anchors, tops;  ///< ascending; tops are the last M of each class
};

struct FamilyResult {
  std::optional<Family> family;  ///< absent where it was interrupted before the kernels were chosen
  std::size_t classes = 0;
  bool interrupted = false;
  bool from_store = false;
  double elapsed_s = 0;
};

/// Anchors; and classes, between two anchors by the variants that are expected to be fastest at one of them: by the
/// options' predictor, or without one by the costs of each template. Errors: an expression of a template that fails.
[[nodiscard]] Result<FamilyPlan> plan_family(const FamilyRequest& request, const space::TemplateSet& templates,
                                             const DeviceInfo& device, const SessionOptions& options);

/// Expected wall time: of measuring the plan, and of the probes.
struct ExpectedFamily {
  double kernels_s = 0, probes_s = 0;
};
[[nodiscard]] ExpectedFamily expected_family(const FamilyRequest& request, const FamilyPlan& plan,
                                             const SessionOptions& options, std::size_t compile_workers);

/// The stored family that answers the request: of exactly this range, with no more kernels and no fewer probes. Nothing
/// with options.force.
[[nodiscard]] std::optional<Family> stored_family(Store& store, const FamilyRequest& request,
                                                  const space::TemplateSet& templates, const DeviceInfo& device,
                                                  const SessionOptions& options);

/// Measures the plan, chooses kernels, probes them and stores the family. What an interrupted search measured is not
/// measured again. `stop` as in run_search(); where it comes during the probes, the family is stored with those that
/// are done. Errors: those of plan_family() and of the device; M that no kernel serves, or none in the one order; rows
/// that differ where they must not.
[[nodiscard]] Result<FamilyResult> run_family_search(const FamilyRequest& request, const space::TemplateSet& templates,
                                                     device::Device& device, Store& store,
                                                     const SessionOptions& options, const std::atomic<bool>& stop,
                                                     const ProgressCallback& progress,
                                                     const Clock& clock = system_clock());

}  // namespace pgtune::session

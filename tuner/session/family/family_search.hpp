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
#include "tuner/session/family/family_plan.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/store.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::session {

struct FamilyResult {
  /// Absent where it was interrupted before the kernels were chosen, or with fewer probes than a stored one has.
  std::optional<Family> family;
  std::size_t classes = 0;
  bool interrupted = false;
  bool from_store = false;
  double elapsed_s = 0;
};

/// The stored family that answers the request: of exactly this range, with no more kernels and no fewer probes. One of
/// the board at hand is preferred to one of another board of its class, which with options.this_board is none. Nothing
/// with options.force and options.retry_failed.
[[nodiscard]] std::optional<Family> stored_family(Store& store, const FamilyRequest& request,
                                                  const space::TemplateSet& templates, const DeviceInfo& device,
                                                  const SessionOptions& options);

/// Measures the plan, chooses kernels, probes them and stores the family. What an interrupted search measured is not
/// measured again, but for settled samples. `stop` as in run_search(); where it comes during the probes, the family is
/// stored with those that are done, if no stored one has more. Errors: those of expect_classes() and of the device; M
/// that no kernel serves, or none in the one order; rows that differ where they must not.
[[nodiscard]] Result<FamilyResult> run_family_search(const FamilyRequest& request, const space::TemplateSet& templates,
                                                     device::Device& device, Store& store,
                                                     const SessionOptions& options, const std::atomic<bool>& stop,
                                                     const ProgressCallback& progress,
                                                     const Clock& clock = system_clock());

}  // namespace pgtune::session

// SPDX-License-Identifier: MIT
// What every step of one search works with. References live as long as run_search.
#pragma once

#include <atomic>

#include "tuner/device/device.hpp"
#include "tuner/session/clock.hpp"
#include "tuner/session/search_session.hpp"
#include "tuner/session/store.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::session {

class Quarantine;

struct SessionContext {
  Problem problem;  ///< once the device is prepared, with what was counted in its data
  space::TemplateSet templates;
  device::Device& device;
  Store& store;
  const SessionOptions& options;
  const std::atomic<bool>& stop;
  const Clock& clock;
  double start_s = 0;                ///< of the search, by `clock`
  Quarantine* quarantine = nullptr;  ///< nothing: whatever is asked for is run

  [[nodiscard]] double elapsed_s() const { return clock.now_s() - start_s; }
  /// Seconds left of the time budget, or nothing where there is none.
  [[nodiscard]] std::optional<double> time_left_s() const;
};

/// A ticket no other request of this process has: a device outlives a search, and so may a build that was abandoned.
[[nodiscard]] protocol::RequestId next_request_id();

/// The build of one variant for the context's problem and device. Errors: a define that cannot be evaluated.
[[nodiscard]] Result<protocol::BuildRequest> make_build_request(const SessionContext& context, const Variant& variant);

/// A variant's plan for the context's problem and device.
[[nodiscard]] Result<LaunchPlan> make_plan(const SessionContext& context, const Variant& variant);

}  // namespace pgtune::session

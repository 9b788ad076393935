// SPDX-License-Identifier: MIT
// How long a problem may take before anything of it is measured.
#pragma once

#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/session/search_session.hpp"

namespace pgtune::session {

/// Seconds, roughly: good for an order of problems and for a first guess at the whole, and for no more. From what the
/// problem multiplies and moves, what the device could do in a clock, and the budget.
[[nodiscard]] double expected_search_s(const Problem& problem, const DeviceInfo& device, const SessionOptions& options);

}  // namespace pgtune::session

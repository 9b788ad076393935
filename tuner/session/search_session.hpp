// SPDX-License-Identifier: MIT
// One search of one problem: search_session.cpp shows all of it, from preparing the device to the answer.
#pragma once

#include <atomic>

#include "tuner/device/device.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/store.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::session {

/// Runs one search over the spaces of all templates: they share the incumbent, the race and the final. `stop` is polled
/// between events: when it becomes true the search finishes the trial in flight, stores it, and returns what it has
/// with interrupted = true. A budget ends the proposals; race and final still run. What is
/// answered_already() is returned at once. Errors: problem larger than
/// the device's memory (usage), no template with a legal variant (usage), a device that cannot work (environment).
/// Outcomes saved before an error stay in the store, and a later search goes on from them.
[[nodiscard]] Result<SearchResult> run_search(const Problem& problem, const space::TemplateSet& templates,
                                              device::Device& device, Store& store, const SessionOptions& options,
                                              const std::atomic<bool>& stop, const ProgressCallback& progress,
                                              const Clock& clock = system_clock());

}  // namespace pgtune::session

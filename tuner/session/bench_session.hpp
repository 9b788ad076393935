// SPDX-License-Identifier: MIT
// Chosen variants measured again in a session of their own: noise floor, check, the final's rounds with the baseline's
// first and best algorithm, energy on request. Whether a stored result held is told by held.hpp.
#pragma once

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "tuner/session/answer/held.hpp"
#include "tuner/session/search_session.hpp"

namespace pgtune::session {

struct BenchRequest {
  std::vector<Variant> variants;  ///< of the templates; one named twice is measured once
  int rounds = 24;
  /// A variant that took more than this many times the baseline's best in screening gets no rounds, in which every
  /// sample would last five of its launches. The fastest variant always gets them. 0: all do.
  double slowest_in_rounds = 0;
  bool measure_energy = false;
};

/// The answer's ranking holds every variant that was measured, by median; there is none where no variant was. It is
/// complete where nothing ended the bench early.
struct BenchResult : SessionResult {
  /// Right but without rounds, see BenchRequest::slowest_in_rounds, fastest first: by screening, the intervals of the
  /// ratios are ranges over its samples.
  std::vector<RankedVariant> screened;
  std::vector<std::pair<Variant, Outcome>> failed;  ///< variants that could not be measured, and why
};

/// Builds, checks and times the variants in a session of SessionKind::kBench, which appends to the store and replaces
/// no answer. Of the options it takes seed, conditions, floor_rounds and command_line; there is no budget. Errors
/// (usage): no variants, unknown parameters or values, fewer rounds than an interval needs; (environment) a device that
/// cannot work.
[[nodiscard]] Result<BenchResult> run_bench(const Problem& problem, const space::TemplateSet& templates,
                                            device::Device& device, Store& store, const BenchRequest& request,
                                            const SessionOptions& options, const std::atomic<bool>& stop,
                                            const ProgressCallback& progress, const Clock& clock = system_clock());

}  // namespace pgtune::session

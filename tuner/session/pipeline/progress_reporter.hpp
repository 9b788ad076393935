// SPDX-License-Identifier: MIT
// Calls the user's progress callback: at once when the phase changes, otherwise a few times a second.
#pragma once

#include <cstdint>
#include <optional>

#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/search_state.hpp"

namespace pgtune::session {

class ProgressReporter {
 public:
  /// The callback may be empty; context and callback must outlive the reporter.
  ProgressReporter(const SessionContext& context, const ProgressCallback& callback);

  /// The device is prepared for the context's problem.
  void baseline(const std::string& name, double best_s) {
    progress_.problem = context_.problem;
    progress_.baseline = name;
    progress_.baseline_best_s = best_s;
  }
  /// Race and final will have settled samples, and take `expected_s`.
  void settled(double expected_s);
  /// `total`: variants this search means to decide.
  void enter_search(const SearchState& state, std::size_t total);
  void search(const SearchState& state, std::optional<double> remaining_s);
  /// A phase of rounds (or of energy windows) begins. `contenders`: variants in it. `remaining_s`: until the problem's
  /// end, not the phase's.
  void enter_rounds(Progress::Phase phase, int rounds, std::int64_t contenders, std::optional<double> remaining_s);
  void round(int round, int rounds, std::int64_t contenders, std::optional<double> remaining_s);
  void take_counts(const SearchState& state);
  void done();

 private:
  void emit();

  const SessionContext& context_;
  const ProgressCallback& callback_;
  Progress progress_;
  double last_emit_s_ = 0;
};

}  // namespace pgtune::session

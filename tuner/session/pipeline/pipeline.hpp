// SPDX-License-Identifier: MIT
// The search proper: proposals are built ahead in parallel, what builds is checked and screened one at a time, and each
// outcome is saved the moment it is known.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>

#include "tuner/search/strategy.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/progress_reporter.hpp"
#include "tuner/session/pipeline/search_state.hpp"

namespace pgtune::session {

/// How long the rest of a screening takes: builds and trials run side by side, so the slower of the two decides.
class TimeEstimate {
 public:
  explicit TimeEstimate(std::size_t build_slots) : build_slots_(build_slots) {}

  void build_finished(double duration_s);
  void trial_finished(double duration_s);
  /// Nothing until enough has finished to judge by.
  [[nodiscard]] std::optional<double> remaining_s(std::size_t builds_left, std::size_t trials_left) const;

 private:
  std::size_t build_slots_;
  std::size_t builds_ = 0, trials_ = 0;
  double build_mean_s_ = 0, trial_mean_s_ = 0;
};

/// How a screening ended.
struct Screened {
  enum class End { kExhausted, kBudget, kInterrupted, kEnough };
  End end = End::kExhausted;
  double time_s = 0;                                ///< device time of the samples of this session's own trials
  std::optional<search::ExpectedMiss> missed = {};  ///< nothing where the strategy does not say
};

/// Wall time of what follows a screening.
struct AfterSearch {
  /// That a time budget keeps for it: below zero the screening may outlast the budget by so much, since what follows
  /// does in any case.
  double reserve_s = 0;
  double expected_s = 0;  ///< that it takes
};

class Pipeline {
 public:
  /// All references must outlive the pipeline.
  Pipeline(const SessionContext& context, SearchState& state, search::Strategy& strategy, ProgressReporter& progress);

  /// Before run(), while the GPU measures something else: has proposals built as far as there are slots, and takes what
  /// was built meanwhile. Does not wait, and tries nothing. Errors: those of the device.
  [[nodiscard]] Result<void> build_ahead();

  /// Works until the strategy has no more proposals, the budget is spent, or the context's stop flag is set. Afterwards
  /// no trial is in flight, and unless interrupted no build either. A time budget starts no new trial where less
  /// than the reserve is left, once eight variants or all were tried. `margin`: of ties; with a budget's acceptable
  /// miss the search ends once it is enough (search::is_enough()). Errors: those of the device.
  [[nodiscard]] Result<Screened> run(const AfterSearch& after, double margin);

 private:
  struct Candidate {
    std::size_t index = 0;
    std::size_t order = 0;  ///< of its proposal
    LaunchPlan plan;
    BuildInfo build;
    double submitted_s = 0;
  };

  [[nodiscard]] bool stopped() const { return context_.stop.load(); }
  [[nodiscard]] bool out_of_time() const;
  [[nodiscard]] bool has_enough() const;
  [[nodiscard]] bool in_flight() const;
  [[nodiscard]] Result<void> take_events(std::chrono::milliseconds timeout);
  [[nodiscard]] Result<Screened::End> try_all();
  void propose();
  [[nodiscard]] std::optional<std::size_t> next_unknown();
  void submit_build(std::size_t index);
  void submit_trial();
  [[nodiscard]] bool waits_for_an_earlier_build() const;
  void drop_quarantined();
  void handle(protocol::BuildDone done);
  void handle(protocol::TrialDone done);
  void decide(std::size_t index, BuildInfo build, TrialReport report);
  void tell_strategy(std::size_t index);  ///< what became of a variant
  void report_progress();
  [[nodiscard]] std::size_t undecided() const;

  const SessionContext& context_;
  SearchState& state_;
  search::Strategy& strategy_;
  ProgressReporter& progress_;
  AfterSearch after_;
  std::optional<double> acceptable_miss_;       ///< where it ends once it is enough
  std::optional<double> begun_s_, deadline_s_;  ///< of run()
  std::size_t slots_;
  std::size_t total_;  ///< variants this search means to decide
  std::int64_t proposed_ = 0;
  std::size_t reported_ = 0;  ///< to the strategy, of earlier sessions too
  bool trial_budget_spent_ = false;
  std::map<protocol::RequestId, Candidate> building_;
  std::size_t submitted_ = 0;               ///< to be built
  std::map<std::size_t, Candidate> ready_;  ///< by the order of their proposals
  protocol::RequestId trial_id_ = 0;
  std::optional<Candidate> trial_;
  TimeEstimate estimate_;
};

}  // namespace pgtune::session

// SPDX-License-Identifier: MIT
// The runner of a session: a list of stages, one after the other, over what they share. A search and a bench differ in
// their lists.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tuner/session/context.hpp"
#include "tuner/session/evidence.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/session/progress_reporter.hpp"
#include "tuner/session/rounds/confirm.hpp"
#include "tuner/session/rounds/final.hpp"

namespace pgtune::session {

/// What a session does once it knows whether the problem meets the power cap.
enum class AfterSteady { kRaceAndFinal, kFinal };

/// What the stages of one session share. References must outlive it.
struct SessionRun {
  const SessionContext& context;
  SearchState& state;
  ProgressReporter& progress;
  SessionResult result = {};  ///< the baseline from the start, the ends as stages tell them, the answer at the end
  Answer answer = {};         ///< as far as the stages have come
  Evidence evidence = {};
  OtherProcesses others_at_start = {};
  AfterSteady after_steady = AfterSteady::kRaceAndFinal;
  std::vector<std::size_t> raced = {};  ///< into the state: who came through the race, fastest first
  std::vector<int> algorithms = {};     ///< of the baseline, by the race or by screening, fastest first
  FinalPlan plan = {};                  ///< of the final
  FinalResult final = {};
  ConfirmResult confirm = {};  ///< the last confirm rounds
  bool exhausted = false;      ///< every proposal was tried

  /// No more stages: by the stop flag, or too many rounds in a row were void.
  [[nodiscard]] bool ended() const { return result.interrupted || result.gave_up; }
  void take_end(RoundRunner::End end);
  /// Takes a variant that failed from the final and from the rounds that confirmed it or another one: the answer ranks
  /// who is in the final alone.
  void leave_out(const Variant& variant);
};

struct SessionStage {
  std::string doing;  ///< for the message of an error, "in the race"; may be empty
  std::function<Result<void>(SessionRun&)> run;
  bool even_when_ended = false;
};

struct SessionPlan {
  std::string doing;  ///< for the message of an error, "searching 64x64x64 f32 nn"
  std::vector<SessionStage> stages;
};

/// Prepares the device for the context's problem and runs the stages in their order; makes the answer of what they
/// ranked, and finishes the session of the context's store, which was begun. Errors: those of the device and of the
/// stages.
[[nodiscard]] Result<SessionResult> run_session(SessionContext context, SearchState& state,
                                                const ProgressCallback& callback, const SessionPlan& plan);

}  // namespace pgtune::session

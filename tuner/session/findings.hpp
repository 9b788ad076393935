// SPDX-License-Identifier: MIT
// What a session has found so far: how it ended, the answer as far as it is known, and the sentences and samples that a
// reader needs to judge the answer by.
#pragma once

#include <string>
#include <vector>

#include "tuner/session/pipeline/pipeline.hpp"
#include "tuner/session/pipeline/preparation.hpp"
#include "tuner/session/rounds/baseline_rounds.hpp"
#include "tuner/session/rounds/energy.hpp"
#include "tuner/session/rounds/race.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

class Findings {
 public:
  Answer answer = {};  ///< as far as it is known; finish() adds the rest

  void take(Preparation preparation);
  /// Where samples settle the margin of ties follows, which needs no floor then.
  void take(const SteadyRun& steady);
  void take(const FloorResult& floor);
  void take(const Screened& screened);
  void take(const RaceResult& race);
  /// The samples of a final or of confirm rounds.
  void take_final_samples(const std::vector<RoundEntry>& field);
  void take_end(RoundRunner::End end);
  void take_interrupt(bool interrupted) { result_.interrupted = interrupted; }
  void add_notes(std::vector<std::string> notes);

  /// The variants draw more power than the baseline did alone: race and final are repeated in settled samples, and the
  /// first ones do not count.
  void settle_after_all();

  /// No more is measured: by the stop flag, or too many rounds in a row were void.
  [[nodiscard]] bool ended() const { return result_.interrupted || result_.gave_up; }
  [[nodiscard]] const BaselineReport& baseline() const { return result_.baseline; }
  /// The samples of finals and confirm rounds.
  [[nodiscard]] const std::vector<Sample>& final_samples() const { return final_samples_; }

  /// Makes the answer, unless nothing was ranked, and finishes the session of the store. `winner`, `compared`: samples
  /// of the answer's best, and of the baseline that it is compared with, in the rounds that its figures come from; none
  /// without a final.
  [[nodiscard]] SessionResult finish(RoundContext& rounds, const std::vector<Sample>& winner,
                                     const std::vector<Sample>& compared) &&;

 private:
  void take_baseline_samples(const std::vector<Sample>& samples);
  void settle();

  SessionResult result_;
  OtherProcesses others_at_start_;
  bool exhausted_ = false;  ///< every proposal was tried
  std::vector<Sample> baseline_samples_, final_samples_;
  std::vector<std::string> notes_;
};

}  // namespace pgtune::session

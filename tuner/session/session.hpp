// SPDX-License-Identifier: MIT
// What a session is given and what it reports: options, clock, progress and result.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/model/conditions.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/search/strategies.hpp"
#include "tuner/session/answer.hpp"

namespace pgtune::session {

/// Time as a session sees it, and waiting; tests give their own.
struct Clock {
  std::function<double()> now_s;             ///< monotonic seconds from any origin
  std::function<std::string()> utc_iso8601;  ///< "2026-01-31T12:00:00Z"
  std::function<void(double)> sleep_s;       ///< returns after about that many seconds
};

[[nodiscard]] Clock system_clock();

/// What ends the search of a problem before all is tried.
struct Budget {
  std::optional<double> seconds;       ///< wall time
  std::optional<std::int64_t> trials;  ///< variants to try
  /// Propose no more once the strategy expects to have missed less than this fraction of a launch's time, or than the
  /// margin of ties (search::is_enough()).
  std::optional<double> acceptable_miss;
};

/// What searches taught that had ended before the problem was first searched on such a device, so that a search which
/// was interrupted goes on as it began; for strategies that ask. Null or empty: nothing. Called by several threads at a
/// time.
using PredictorSource = std::function<std::shared_ptr<const search::Predictor>(const Problem&, const DeviceInfo&)>;

struct SessionOptions {
  Budget budget;
  bool force = false;  ///< measure again even where stored results answer
  /// No answer of another board of the device's class will do.
  bool this_board = false;
  /// Try again what crashed, hung or was quarantined, also where a stored answer would do without it.
  bool retry_failed = false;
  std::uint64_t seed = 1;  ///< order of the search; of rounds too, together with the session's start
  Conditions conditions;
  std::string strategy{search::kDefaultStrategy};  ///< a name of search::strategies()
  PredictorSource predictor;
  /// What all searches taught of clocks at the power cap, for expected_settled_times().
  std::function<std::shared_ptr<const search::Predictor>()> settled_clocks;
  Objective objective = Objective::kTime;
  bool measure_energy = false;  ///< of the winner and the baseline, also where the objective is time
  /// No variant is cut in screening, and all that are right are in the final: what a bench asks for.
  bool full = false;
  /// The search only chooses, and the caller measures its choice: nothing is measured that only the figures of an
  /// answer need, such as the baseline beside the finalists, nothing is verified, and the store gets no answer.
  bool only_chooses = false;
  std::optional<Sampling> sampling;  ///< where it is known; else the baseline's steady run shows it
  bool any_m = false;                ///< builds serve problems of any M: space::Edges::kAlways
  /// At the power cap: so many of the variants that screened best race, in settled samples of full length. 0: as
  /// settled_race_plan() has it.
  std::size_t settled_entrants = 0;
  int finalists = 8;
  int floor_rounds = 24;
  int race_rounds = 16;   ///< at most
  int final_rounds = 24;  ///< more, up to max_final_rounds, while the best two are unclear
  int max_final_rounds = 48;
  std::string command_line;  ///< recorded with the session
};

/// State of a running search for the live line; all counts of this problem.
struct Progress {
  enum class Phase {
    kPrepare,
    kCeilings,
    kSteady,
    kFloor,
    kSearch,
    kExpectation,  ///< of a family: what its classes are expected to run fastest is computed
    kRace,
    kFinal,
    kConfirm,
    kVerification,
    kEnergy,
    kDone
  };
  Phase phase = Phase::kPrepare;
  std::int64_t total = 0, done = 0, failed = 0, cut = 0, resumed = 0;
  double best_s = 0;            ///< best median per launch so far, 0 while none
  double baseline_best_s = 0;   ///< 0 before prepare
  std::string baseline;         ///< BaselineReport::name(); empty before prepare
  int round = 0, rounds = 0;    ///< of the floor, race, final or confirm rounds; windows in the energy phase
  std::int64_t contenders = 0;  ///< variants still in the race or final
  /// Expected of race, final and confirm rounds (in a bench: of the final), where the problem meets the power cap and
  /// their samples are settled; 0 where they are short.
  double settled_rounds_s = 0;
  double elapsed_s = 0;
  std::optional<double> remaining_s;  ///< estimate
  Problem problem;
  std::string part = {};  ///< of a family's search: "class 37 of 152"
};

/// Called from the search loop, at most a few times a second apart from phase changes. Must not throw.
using ProgressCallback = std::function<void(const Progress&)>;

/// What a search and a bench report alike.
struct SessionResult {
  std::optional<Answer> answer;  ///< absent when nothing valid was found
  CountsRecord counts;
  BaselineReport baseline;
  bool interrupted = false;  ///< stopped by `stop` (signal); partial
  bool budget_reached = false;
  bool enough = false;  ///< ended as Budget::acceptable_miss has it
  /// Race or final ended because round after round was void (heat, power brake, jumping clocks); partial, the answer's
  /// notes say why.
  bool gave_up = false;
  double elapsed_s = 0;
};

struct SearchResult : SessionResult {
  bool from_store = false;  ///< answered without measuring
  /// Up to a few examples for each failure kind: variant key and reason.
  std::map<OutcomeKind, std::vector<std::pair<std::string, std::string>>> failure_examples;
};

}  // namespace pgtune::session

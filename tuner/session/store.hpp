// SPDX-License-Identifier: MIT
// Where a search keeps what it learns. The tool implements this on the SQLite database; tests use an in-memory fake.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/model/conditions.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/model/fatal_trial.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/variant.hpp"
#include "tuner/session/answer/objective.hpp"
#include "tuner/space/template_set.hpp"
#include "tuner/stats/verdict.hpp"

namespace pgtune::session {

/// Identifies results that may be compared and reused: same problem, contents of the templates, device uuid, driver
/// branch and conditions. A trial is one template's and is reused whatever others it was searched with.
struct StoreKey {
  Problem problem;
  space::TemplateSet templates;
  DeviceInfo device;
  std::string source;  ///< "gpu" or "replay"
  Conditions conditions = {};
};

/// A search finds the answer; a bench measures chosen variants again and never replaces it.
enum class SessionKind { kSearch, kBench };

struct StoredTrial {
  TrialReport report;
  BuildInfo build;
};

/// A contender's samples of one stage of rounds (floor, race or final), paired by Sample::round with the others'.
struct ContenderSamples {
  std::optional<Variant> variant;  ///< empty: a baseline algorithm
  int baseline_algorithm = -1;
  std::vector<Sample> samples;
};

/// One energy window of a contender, or of the idle GPU (neither variant nor algorithm).
struct EnergyRecord {
  std::optional<Variant> variant;
  int baseline_algorithm = -1;
  int index = 0;  ///< of this contender's windows, from 0
  EnergyWindow window;
};

/// Energy of one launch over a contender's windows.
struct EnergySummary {
  int windows = 0;
  double energy_j = 0, low_j = 0, high_j = 0;  ///< of one launch: median and range over the windows
  double power_w = 0;                          ///< median
  double time_s = 0;                           ///< of one launch inside the windows, median
  double sm_clock_hz = 0;                      ///< median
  std::optional<double> power_cap_share;       ///< median
  double uncertainty = 0;                      ///< of the energy, the largest of the windows
  bool suspect = false;                        ///< in any window counter and averaged power disagree
  /// Energy of the baseline's neighbouring windows over the own, median and range; > 1 needs less energy. 0 for the
  /// baseline itself.
  double ratio_to_baseline = 0, ratio_low = 0, ratio_high = 0;
};

/// How much the session's own measuring scatters: the baseline against itself.
struct NoiseFloor {
  int rounds = 0;         ///< 0: not measured
  double half_width = 0;  ///< of the 95 % interval of the ratio, 0.002 is 0.2 %
  double margin = 0.003;  ///< differences inside it are ties: the larger of 0.3 % and twice the floor
};

/// Device time of a session's stages as the sum of their samples, lead-ins not counted.
struct StageTimes {
  double screen_s = 0, floor_s = 0, race_s = 0, final_s = 0;
};

/// The answer of a finished session: the lowest median of the final, or a variant within the margin of it that cannot
/// be told apart from it and has fewer shared-memory bytes, then fewer registers, then the lower key. With another
/// objective than time, the finalist that is best by it, of ties the faster.
struct BestRecord {
  Variant variant;
  BuildInfo build;
  double time_s = 0;  ///< median per launch over the final's samples
  double tflops = 0;
  double ratio_to_baseline = 0;          ///< baseline best time / own time, median over rounds; > 1 is faster
  double ratio_low = 0, ratio_high = 0;  ///< 95 % interval; from screening alone: range over the winner's samples
  double cycles_ratio = 0, cycles_low = 0, cycles_high = 0;  ///< the same in cycles; 0 where no clock was measured
  stats::Verdict verdict = stats::Verdict::kUnclear;         ///< against the baseline's best
  double sm_clock_hz = 0, baseline_clock_hz = 0;             ///< medians over the final's samples
  double baseline_first_s = 0, baseline_best_s = 0;          ///< medians over the final's samples
  std::vector<std::string> ties;                             ///< keys of variants not told apart from the winner
};

struct CountsRecord {
  std::int64_t space = 0, valid = 0, compiled = 0, measured = 0;
  std::map<OutcomeKind, std::int64_t> failed;
};

/// A finalist as shown in the table of the best.
struct RankedVariant {
  Variant variant;
  BuildInfo build;
  double time_s = 0, tflops = 0, spread = 0;  ///< spread: MAD * 1.4826 / median over samples
  double ratio_to_baseline = 0, ratio_low = 0, ratio_high = 0;
  stats::Verdict verdict = stats::Verdict::kUnclear;
  std::optional<EnergySummary> energy = {};
  bool pareto = false;  ///< no finalist is both faster and needs less energy; false where energy was not measured
};

/// A finished session as stored, enough to answer the same question again without measuring.
struct StoredAnswer {
  BestRecord best;
  std::vector<RankedVariant> ranking;  ///< the winner, then the others by median
  BaselineReport baseline;
  CountsRecord counts;
  bool complete =
      false;  ///< every proposed variant was tried and the final ran; false: ended early (budget, interrupt)
  bool from_final = false;  ///< times come from a whole final; false: interrupted before or during it
  std::string finished_at;  ///< UTC, ISO 8601
  Objective objective = Objective::kTime;
  NoiseFloor floor = {};
  StageTimes stages = {};
  std::int64_t raced = 0;  ///< variants that entered the race
  int voided_rounds = 0;   ///< repeated, because heat, power brake or a jump of the clock spoilt them
  std::optional<EnergySummary> baseline_energy = {};  ///< of the baseline's best algorithm
  std::optional<double> idle_power_w = {};
  std::vector<std::string> notes = {};  ///< what a reader has to know to judge the numbers, one sentence each
};

class Store {
 public:
  virtual ~Store() = default;

  /// The last finished session for this key, if any. One that tried the whole grid of the key's templates, and ended
  /// complete, answers for the preset too; one that did not, where there is no other.
  [[nodiscard]] virtual std::optional<StoredAnswer> answer(const StoreKey& key) = 0;
  /// Trials already known for this key, by Variant::id(): a resumed search does not repeat them.
  [[nodiscard]] virtual std::map<std::string, StoredTrial> trials(const StoreKey& key) = 0;

  /// Whatever crashed or hung when it was last tried on a problem, under the device's driver version (compilers:
  /// NVRTC version) and on its architecture; of any template, problem and device. What was replayed does not count.
  [[nodiscard]] virtual std::vector<FatalTrial> fatal_trials(const DeviceInfo& device) = 0;

  /// Opens a session; the later calls belong to it.
  virtual void begin(const StoreKey& key, SessionKind kind, std::uint64_t seed, const std::string& command_line) = 0;
  virtual void save_baseline(const BaselineReport& baseline) = 0;
  /// One transaction: outcome, build and samples of one variant.
  virtual void save_trial(const Variant& variant, const BuildInfo& build, const TrialReport& report) = 0;
  /// One transaction: the samples of every contender of one stage. A second call for the stage replaces the first.
  virtual void save_rounds(Stage stage, const std::vector<ContenderSamples>& samples) = 0;
  /// Adds one energy window.
  virtual void save_energy(const EnergyRecord& record) = 0;
  /// The newest ceilings measured on this device under its driver branch, and new ones.
  [[nodiscard]] virtual std::optional<Ceilings> ceilings(const DeviceInfo& device, const std::string& source) = 0;
  virtual void save_ceilings(const Ceilings& ceilings) = 0;
  /// Marks the session finished with its answer (absent: nothing valid).
  virtual void finish(const std::optional<StoredAnswer>& answer) = 0;
};

}  // namespace pgtune::session

// SPDX-License-Identifier: MIT
// What a session found: its finalists, the first of them the winner, and what a reader needs to judge their numbers by.
// A session makes one answer; the store keeps it, and every output shows it. answer_json.hpp is its JSON form.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/outcome.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/sampling.hpp"
#include "tuner/model/variant.hpp"
#include "tuner/stats/verdict.hpp"
#include "tuner/util/fields.hpp"
#include "tuner/util/named_enum.hpp"

namespace pgtune::session {

/// What a search minimises.
enum class Objective {
  kTime,
  kEnergy,              ///< joules of one launch
  kEnergyDelayProduct,  ///< joules times seconds of one launch
};

/// "time", "energy", "edp".
[[nodiscard]] std::string_view to_string(Objective objective);
[[nodiscard]] std::optional<Objective> parse_objective(std::string_view text);
[[nodiscard]] EnumTable<Objective> enum_table(Objective of);

/// Energy of one launch over a contender's windows.
struct EnergySummary {
  int windows = 0;
  double energy_j = 0, low_j = 0, high_j = 0;  ///< of one launch: median and range over the windows
  double power_w = 0;                          ///< median
  double time_s = 0;                           ///< of one launch inside the windows, median
  double sm_clock_hz = 0;                      ///< median
  std::optional<double> power_cap_share = {};  ///< median
  double uncertainty = 0;                      ///< of the energy, the largest of the windows
  bool suspect = false;                        ///< in any window counter and averaged power disagree
  /// Energy of the baseline's neighbouring windows over the own, median and range; > 1 needs less energy. 0 for the
  /// baseline itself.
  double ratio_to_baseline = 0, ratio_low = 0, ratio_high = 0;

  friend bool operator==(const EnergySummary&, const EnergySummary&) = default;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("windows", self.windows);
    visit("energy_j", self.energy_j);
    visit("energy_range_j", low_high(self.low_j, self.high_j));
    visit("power_w", self.power_w);
    visit("time_s", self.time_s);
    visit("sm_clock_hz", self.sm_clock_hz);
    visit("power_cap_share", self.power_cap_share);
    visit("uncertainty", self.uncertainty);
    visit("suspect", self.suspect);
    visit("ratio_to_baseline", self.ratio_to_baseline);
    visit("ratio_range", low_high(self.ratio_low, self.ratio_high));
  }
};

/// Energy of one launch by the settled samples of final or confirm rounds, which is known without energy windows.
struct SettledEnergy {
  int samples = 0;
  double power_w = 0, time_s = 0;              ///< medians over the samples; the time is that of one launch
  double energy_j = 0, low_j = 0, high_j = 0;  ///< power times time of a launch: mean and its 95 % interval
  /// The baseline's energy over the own in the same rounds, mean and 95 % interval; > 1 needs less energy. 0 for the
  /// baseline itself.
  double ratio_to_baseline = 0, ratio_low = 0, ratio_high = 0;

  friend bool operator==(const SettledEnergy&, const SettledEnergy&) = default;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("samples", self.samples);
    visit("power_w", self.power_w);
    visit("time_s", self.time_s);
    visit("energy_j", self.energy_j);
    visit("energy_interval_j", low_high(self.low_j, self.high_j));
    visit("ratio_to_baseline", self.ratio_to_baseline);
    visit("ratio_interval", low_high(self.ratio_low, self.ratio_high));
  }
};

/// How much the session's own measuring scatters: the baseline against itself.
struct NoiseFloor {
  int rounds = 0;         ///< 0: not measured
  double half_width = 0;  ///< of the 95 % interval of the ratio, 0.002 is 0.2 %
  double margin = 0.003;  ///< differences inside it are ties: the larger of 0.3 % and twice the floor

  friend bool operator==(const NoiseFloor&, const NoiseFloor&) = default;

  PGTUNE_FIELDS(rounds, half_width, margin)
};

/// Device time of a session's stages as the sum of their samples; of lead-ins only those of settled samples count. Of
/// the verification, the preparations and the steady run, most of which are no samples, it is the wall time.
struct StageTimes {
  double screen_s = 0, floor_s = 0, race_s = 0, final_s = 0, confirm_s = 0, verify_s = 0;
  double prepare_s = 0;  ///< data, reference, the baseline's algorithms
  double steady_s = 0;   ///< the baseline's steady run with its lead-in

  friend bool operator==(const StageTimes&, const StageTimes&) = default;

  PGTUNE_FIELDS(screen_s, floor_s, race_s, final_s, (confirm_s, kUnlessDefault), (verify_s, kUnlessDefault),
                (prepare_s, kUnlessDefault), (steady_s, kUnlessDefault))
};

struct CountsRecord {
  std::int64_t space = 0, valid = 0, compiled = 0, measured = 0;
  std::map<OutcomeKind, std::int64_t> failed;  ///< only kinds that occurred

  friend bool operator==(const CountsRecord&, const CountsRecord&) = default;

  PGTUNE_FIELDS(space, valid, compiled, measured, failed)
};

/// A finalist.
struct RankedVariant {
  Variant variant;
  BuildInfo build;
  /// Shared memory of one CTA, static and dynamic, the largest over the variant's kernels; absent where it has no
  /// launch plan.
  std::optional<std::int64_t> smem_bytes = {};
  double time_s = 0;  ///< median per launch over the samples
  double tflops = 0;
  double spread = 0;                     ///< MAD * 1.4826 / median over samples
  double ratio_to_baseline = 0;          ///< baseline best time / own time, mean over rounds; > 1 is faster
  double ratio_low = 0, ratio_high = 0;  ///< 95 % interval; from screening alone: range over the own samples
  double cycles_ratio = 0, cycles_low = 0, cycles_high = 0;  ///< the same in cycles; 0 where no clock was measured
  stats::Verdict verdict = stats::Verdict::kUnclear;         ///< against the baseline's best
  double sm_clock_hz = 0;                                    ///< median over the final's samples; 0: not measured
  std::optional<EnergySummary> energy = {};
  bool pareto = false;  ///< no finalist is both faster and needs less energy; false where energy was not measured
  std::optional<SettledEnergy> settled_energy = {};

  friend bool operator==(const RankedVariant&, const RankedVariant&) = default;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("variant", self.variant);
    visit("build", self.build);
    visit("smem_bytes", self.smem_bytes);
    visit("time_s", self.time_s);
    visit("tflops", self.tflops);
    visit("spread", self.spread);
    visit("ratio_to_baseline", self.ratio_to_baseline);
    visit("ratio_interval", low_high(self.ratio_low, self.ratio_high));
    visit("cycles_ratio", self.cycles_ratio);
    visit("cycles_interval", low_high(self.cycles_low, self.cycles_high));
    visit("verdict", self.verdict);
    visit("sm_clock_hz", self.sm_clock_hz);
    visit("energy", self.energy);
    visit("pareto", self.pareto);
    visit("settled_energy", self.settled_energy);
  }
};

/// The answer of a session, enough to answer the same question again without measuring.
struct Answer {
  /// The winner, then the others by median. The winner has the lowest median of the final, or is a variant within the
  /// margin of it that cannot be told apart from it and has fewer shared-memory bytes, then fewer registers, then the
  /// lower key. With another objective than time, it is the finalist that is best by it, of ties the faster. Empty only
  /// while the session has not ranked; no stored answer's is.
  std::vector<RankedVariant> ranking;
  Sampling sampling = Sampling::kShort;  ///< of race and final
  std::optional<double> lead_in_s = {};  ///< median over the settled samples of final and confirm rounds
  /// The winner's figures are of launches in CUDA graphs, for the most part; absent without a final.
  std::optional<bool> in_graphs = {};
  /// Rounds in which the winner that the final chose was measured again, and from which its figures and the baseline's
  /// come; 0: they come from the final.
  int confirm_rounds = 0;
  std::vector<std::string> ties;                     ///< keys of variants not told apart from the winner
  double baseline_first_s = 0, baseline_best_s = 0;  ///< medians over the final's samples
  /// Into BaselineReport::algorithms: the one that was fastest where baseline_best_s was measured, which need not be
  /// BaselineReport::best, the fastest by screening. Absent where no algorithm was in the rounds.
  std::optional<int> baseline_algorithm = {};
  double baseline_clock_hz = 0;  ///< of the best; 0 where no clock was measured
  BaselineReport baseline;
  CountsRecord counts;
  bool complete = false;  ///< every proposed variant was tried and the final ran; false: budget or interrupt came first
  bool from_final = false;  ///< times come from a whole final; false: interrupted before or during it
  std::string finished_at;  ///< UTC, ISO 8601
  /// UUID of the GPU that it was measured on. The store knows it of a session, so that it is no part of the JSON.
  std::string board = {};
  Objective objective = Objective::kTime;
  std::optional<std::string> strategy = {};  ///< of the search, by name; absent of a bench
  NoiseFloor floor = {};
  StageTimes stages = {};
  /// By which share of its time the best that was screened is expected to be slower than the best that going on would
  /// have found; absent where the strategy does not say.
  std::optional<double> expected_missed = {};
  /// The same of the best in the templates' presets, by which a search ends.
  std::optional<double> expected_missed_of_presets = {};
  std::int64_t raced = 0;                                     ///< variants that entered the race
  int voided_rounds = 0;                                      ///< repeated, for what RoundTroubles counts
  std::optional<EnergySummary> baseline_energy = {};          ///< of the baseline's best algorithm
  std::optional<SettledEnergy> baseline_settled_energy = {};  ///< of the algorithm that was best in the final
  std::optional<double> idle_power_w = {};
  std::vector<std::string> notes = {};  ///< what a reader has to know to judge the numbers, one sentence each

  /// The algorithm of `report`, its baseline, that ratios are to, as far as is known.
  [[nodiscard]] int compared_algorithm(const BaselineReport& report) const {
    return baseline_algorithm.value_or(report.best);
  }
  /// The winner. Precondition: the ranking is not empty.
  [[nodiscard]] const RankedVariant& best() const { return ranking.front(); }

  friend bool operator==(const Answer&, const Answer&) = default;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("ranking", self.ranking);
    visit("sampling", self.sampling);
    visit("lead_in_s", self.lead_in_s);
    visit("in_graphs", self.in_graphs);
    visit("confirm_rounds", self.confirm_rounds, kUnlessDefault);
    visit("ties", self.ties);
    visit("baseline_first_s", self.baseline_first_s);
    visit("baseline_best_s", self.baseline_best_s);
    visit("baseline_algorithm", self.baseline_algorithm);
    visit("baseline_clock_hz", self.baseline_clock_hz);
    visit("baseline", self.baseline);
    visit("counts", self.counts);
    visit("complete", self.complete);
    visit("from_final", self.from_final);
    visit("finished_at", self.finished_at);
    visit("objective", self.objective);
    visit("strategy", self.strategy);
    visit("expected_missed", self.expected_missed);
    visit("expected_missed_of_presets", self.expected_missed_of_presets);
    visit("noise_floor", self.floor);
    visit("stages", self.stages);
    visit("raced", self.raced);
    visit("voided_rounds", self.voided_rounds);
    visit("baseline_energy", self.baseline_energy);
    visit("baseline_settled_energy", self.baseline_settled_energy);
    visit("idle_power_w", self.idle_power_w);
    visit("notes", self.notes);
  }
};

}  // namespace pgtune::session

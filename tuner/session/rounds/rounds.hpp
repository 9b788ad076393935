// SPDX-License-Identifier: MIT
// Rounds: one sample of every contender, in balanced order, again and again. Floor, race, final and bench all measure
// by them. A round that heat, power brake or a jump of the clock spoilt is void and repeated, and so are all rounds of
// a stage once launches have gone over into CUDA graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/progress_reporter.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/session/rounds/round_order.hpp"

namespace pgtune::session {

/// A contender of one stage and its samples of the rounds that count.
struct RoundEntry {
  protocol::BuiltContender contender;
  std::optional<std::size_t> index = {};  ///< into the search's state; nothing for a baseline algorithm or in a bench
  std::vector<Sample> samples = {};
  bool out = false;      ///< gets no more samples: it failed, or a race has dropped it
  Outcome outcome = {};  ///< why it failed; kOk for all others
};

/// The entry of the baseline algorithm at `index`.
[[nodiscard]] RoundEntry baseline_entry(int index);

/// What went wrong over all rounds of a session, and the sentences a reader has to know about it.
struct RoundTroubles {
  int heat_voids = 0;      ///< rounds voided for heat or power brake
  int clock_voids = 0;     ///< rounds voided for a jump of the clock
  int graph_voids = 0;     ///< rounds voided because the later ones' launches come in CUDA graphs
  int new_levels = 0;      ///< jumps that stayed and were accepted
  double off_lock_hz = 0;  ///< first clock more than 1 % off the locked one; 0: none
  double locked_hz = 0;
  bool gave_up = false;  ///< five voids in a row: the session ends with what it has

  [[nodiscard]] int voided() const { return heat_voids + clock_voids + graph_voids; }
  [[nodiscard]] std::vector<std::string> notes() const;
};

/// What the rounds of one session work with. References must outlive them.
struct RoundContext {
  const SessionContext& context;
  SearchState& state;
  ProgressReporter& progress;
  RoundTroubles troubles = {};  ///< of all of them
};

/// Runs one stage's rounds over a field.
class RoundRunner {
 public:
  enum class End {
    kRan,
    kStopped,  ///< by the stop flag; nothing was added
    kGaveUp,   ///< five voids in a row, see RoundTroubles::gave_up; nothing was added
  };

  using OnFailure = std::function<void(const RoundEntry&)>;

  /// `timing`: of each sample. `on_failure`, where given, hears of each entry that
  /// fails. The context and troubles must outlive the runner.
  RoundRunner(const SessionContext& context, Stage stage, SampleTiming timing, std::vector<RoundEntry> field,
              RoundTroubles& troubles, OnFailure on_failure = {});
  /// Likewise; a variant that fails gets the failure as its outcome in state and store.
  RoundRunner(RoundContext& rounds, Stage stage, SampleTiming timing, std::vector<RoundEntry> field);

  /// Gives every entry that is not out one more sample with the next round's number (they count from 1), and repeats
  /// the round, after a pause where it was for heat, until it is not void; no settled round is void for a jump of the
  /// clock. Where launches have gone over into CUDA graphs since the round before, the rounds so far are void too, for
  /// those who are not out, and they count from 1 again: a ratio has launches of one way. An entry that fails, also in
  /// a void round, is out with its outcome; where that leaves none, nothing is added. The order is that of RoundOrder;
  /// each session and stage has its own. Errors: those of the device.
  [[nodiscard]] Result<End> run_round();

  [[nodiscard]] bool all_out() const;
  [[nodiscard]] int rounds() const { return rounds_; }  ///< that count
  /// Wall time since the first of rounds() began, or since there was none, with voids and pauses.
  [[nodiscard]] double spent_s() const { return context_.clock.now_s() - since_s_; }
  [[nodiscard]] const std::vector<RoundEntry>& field() const { return field_; }
  [[nodiscard]] std::vector<RoundEntry>& field() { return field_; }

 private:
  /// Samples of one attempt, beside the field.
  using Attempt = std::vector<std::optional<Sample>>;

  [[nodiscard]] Result<Attempt> attempt();
  [[nodiscard]] protocol::RoundRequest request(std::vector<std::size_t>& active) const;
  [[nodiscard]] bool hot(const Attempt& attempt) const;
  [[nodiscard]] bool clock_jumped(const Attempt& attempt) const;
  [[nodiscard]] bool launched_otherwise(const Attempt& attempt) const;
  [[nodiscard]] bool pause(double seconds) const;
  void start_over();
  void take(const Attempt& attempt);

  const SessionContext& context_;
  Stage stage_;
  SampleTiming timing_;
  std::vector<RoundEntry> field_;
  RoundTroubles& troubles_;
  OnFailure on_failure_;
  RoundOrder order_;
  int rounds_ = 0;
  double since_s_;
  std::vector<std::vector<double>> clocks_hz_;  ///< beside the field: of the rounds at the present clock level
};

/// The samples as the store keeps them; entries without samples are left out.
[[nodiscard]] std::vector<ContenderSamples> contender_samples(const std::vector<RoundEntry>& field);

/// Builds the variants at these indices of the state, and makes their entries in the same order, see build_finalists().
/// Nothing when the stop flag was set meanwhile.
[[nodiscard]] Result<std::optional<std::vector<RoundEntry>>> variant_entries(RoundContext& rounds,
                                                                             const std::vector<std::size_t>& indices);

/// Variants with a sample or a failure.
[[nodiscard]] std::int64_t measured_variants(const std::vector<RoundEntry>& field);

/// The entry of a variant, in `field`; null where it is not in it.
[[nodiscard]] const RoundEntry* entry_of(const std::vector<RoundEntry>& field, const Variant& variant);

/// A contender's variant with the samples it has.
struct MeasuredVariant {
  Variant variant;
  BuildInfo build;
  std::optional<std::int64_t> smem_bytes = {};  ///< RankedVariant::smem_bytes
  std::vector<Sample> samples;
};

struct MeasuredBaseline {
  int algorithm = 0;  ///< index into BaselineReport::algorithms
  std::vector<Sample> samples;
};

/// The variants, and the baseline algorithms, of a field.
[[nodiscard]] std::vector<MeasuredVariant> variants_of(const std::vector<RoundEntry>& field);
[[nodiscard]] std::vector<MeasuredBaseline> baselines_of(const std::vector<RoundEntry>& field);

/// Sum of the samples' times, with the lead-ins of settled ones.
[[nodiscard]] double device_time_s(const std::vector<RoundEntry>& field);

}  // namespace pgtune::session

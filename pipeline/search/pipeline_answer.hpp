// SPDX-License-Identifier: MIT
// The result of a search for a pipeline, as it is shown and stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/records.hpp"
#include "pipeline/plan/space.hpp"

namespace pgtune::session {

/// A candidate in the final rounds, or one that was only screened.
struct MeasuredPipeline {
  pipeline::Candidate candidate;
  Outcome outcome;
  double time_s = 0;         ///< median by the host's clock, of the rounds if it was in them
  double device_s = 0;       ///< the same between events
  double spread = 0;         ///< relative, of the samples
  std::int64_t samples = 0;  ///< 0: not measured
  bool in_rounds = false;
  double expected_s = 0;                   ///< by the model from the measured rates
  std::optional<double> sm_clock_hz = {};  ///< median of the same samples, if they have clocks
  std::optional<double> lead_in_s = {};    ///< the same of settled samples

  PGTUNE_FIELDS(candidate, outcome, time_s, device_s, spread, samples, in_rounds, expected_s, sm_clock_hz, lead_in_s)
};

struct MeasuredRung {
  std::string name;
  bool trap = false;
  MeasuredPipeline measured;

  PGTUNE_FIELDS(name, trap, measured)
};

/// A ratio of times with its interval, from pairs inside rounds; 0 pairs: unknown.
struct TimeRatio {
  double ratio = 0, low = 0, high = 0;
  std::int64_t pairs = 0;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("ratio", self.ratio);
    visit("interval", low_high(self.low, self.high));
    visit("pairs", self.pairs);
  }
};

struct PipelineAnswer {
  pipeline::StreamedProblem streamed;
  pipeline::Prepared prepared;
  pipeline::CopyRates rates;
  std::vector<pipeline::ChunkTime> chunk_times;
  std::optional<pipeline::SettledKernel> settled;  ///< if kernels may be the limit
  /// At the power cap: by how much that kernel slows down against a few launches alone. The bound and predictions apply
  /// this factor to all kernels, and samples of pipelines near the best are settled.
  std::optional<double> slowdown;
  pipeline::Bound bound;  ///< the least over the chunk extents
  pipeline::Cut bound_cut = pipeline::Cut::kM;
  std::int64_t bound_chunk = 0;
  MeasuredPipeline guess;  ///< the model's first choice
  MeasuredPipeline best;
  std::vector<MeasuredRung> ladder;
  TimeRatio serial_to_best;  ///< serial() over the best
  TimeRatio guess_to_best;
  std::optional<pipeline::StepTimes> steps;      ///< of the best one
  std::optional<pipeline::Timeline> timeline;    ///< of one run of the best
  std::int64_t space = 0, tried = 0, valid = 0;  ///< candidates
  int rounds = 0;
  bool complete = false;  ///< all rounds ran, and the winner was right again after them
  std::vector<std::string> notes;
  double elapsed_s = 0;

  /// The bound over its time; 0 if not measured.
  [[nodiscard]] double share_of_bound(const MeasuredPipeline& measured) const {
    return measured.time_s > 0 ? bound.total_s / measured.time_s : 0;
  }

  /// The lowest rung that is a serial loop: in pageable memory, if that was tried. Null if there is none.
  [[nodiscard]] const MeasuredRung* serial() const {
    const auto found = std::find_if(ladder.begin(), ladder.end(), [](const MeasuredRung& rung) {
      return rung.measured.candidate.submission == pipeline::Submission::kBlocking;
    });
    return found == ladder.end() ? nullptr : &*found;
  }

  PGTUNE_FIELDS(streamed, prepared, rates, chunk_times, settled, slowdown, bound, bound_cut, bound_chunk, guess, best,
                ladder, serial_to_best, guess_to_best, steps, timeline, space, tried, valid, rounds, complete, notes,
                elapsed_s)
};

}  // namespace pgtune::session

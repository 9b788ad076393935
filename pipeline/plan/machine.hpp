// SPDX-License-Identifier: MIT
// A machine of three workers: copy in, compute, copy out. With measured rates it predicts a candidate's time; with
// artificial ones it tests orders, limits and accounting. A turn is the time that a copy engine loses from one copy to
// the next. Copies in one stream follow each other at once. If streams take turns, the engine switches between them and
// waits for their ordering. That time depends on the streams and not on the copies, so it is measured on copies alone,
// in the loops that pipelines use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "pipeline/plan/schedule.hpp"
#include "pipeline/plan/timeline.hpp"

namespace pgtune::pipeline {

/// From the end of a copy to the beginning of the next one in its direction, for each use of streams.
struct StreamTurn {
  StreamUse use = StreamUse::kPerChunk;
  int streams = 1;
  Submission submission = Submission::kLoop;
  double turn_s = 0;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("stream_use", self.use);
    visit("streams", self.streams);
    visit("submission", self.submission);
    visit("turn_s", self.turn_s);
  }
  friend bool operator==(const StreamTurn&, const StreamTurn&) = default;
};

/// Copies between host and GPU, in bytes per second.
struct CopyRates {
  double pinned_in = 0, pinned_out = 0;
  double pinned_in_both = 0, pinned_out_both = 0;  ///< while the other direction copies too
  double pageable_in = 0, pageable_out = 0;
  double pageable_in_both = 0, pageable_out_both = 0;
  double host_copy = 0;                               ///< pageable to pinned by helper threads
  double latency_s = 0;                               ///< latency of a small copy between pinned memory and the GPU
  double issue_s = 0;                                 ///< the host's time for one asynchronous call
  std::optional<double> wait_s = {};                  ///< from the end of an operation until the waiting host continues
  std::optional<std::vector<StreamTurn>> turns = {};  ///< of pinned memory; absent if not measured

  PGTUNE_FIELDS(pinned_in, pinned_out, pinned_in_both, pinned_out_both, pageable_in, pageable_out, pageable_in_both,
                pageable_out_both, host_copy, latency_s, issue_s, wait_s, turns)
  friend bool operator==(const CopyRates&, const CopyRates&) = default;
};

/// Seconds of the kernel for a chunk, by cut and extent.
using ComputeTimes = std::map<Cut, std::map<std::int64_t, double>>;
/// Interpolates linearly between the known extents and scales in proportion beyond them; 0 if the cut has none.
[[nodiscard]] double compute_time(const ComputeTimes& times, Cut cut, std::int64_t extent);

struct Machine {
  CopyRates rates;
  ComputeTimes compute;  ///< in a few launches
  double slowdown = 1;   ///< of kernels that run without pause, under the power cap
  bool one_copy_engine = false;
  /// Each worker takes operations strictly in the order of issue, like GPUs with one hardware queue: an operation that
  /// is not ready delays those after it.
  bool in_issue_order = false;
};

/// The timeline of `candidate`, with its schedule, on the machine.
[[nodiscard]] Timeline simulate(const Machine& machine, const Candidate& candidate, const Schedule& schedule);

inline constexpr int kTurnsChunks = 32;

/// A problem with A and D of kTurnsChunks chunks of about `chunk_bytes` each; B is resident and small.
[[nodiscard]] StreamedProblem turns_problem(std::int64_t chunk_bytes);
/// One candidate for each use of several streams, in chunks of that problem; with batched copies if the driver has
/// them.
[[nodiscard]] std::vector<Candidate> turns_candidates(const StreamedProblem& streamed, bool batched_copies);
/// The turn from the time of one of these loops, with kernels that take no time; for batched copies, from one call to
/// the next. `rates` must be without turns.
[[nodiscard]] StreamTurn turn_of(const StreamedProblem& streamed, const CopyRates& rates, const Candidate& candidate,
                                 double measured_s);

/// One of these loops with its measured time.
struct TurnsLoop {
  Candidate candidate = {};
  double measured_s = 0;
};
/// `rates` with the turns of all loops. The rates of both directions at once were measured briefly, and other load on
/// the host lowers them. If they would make a loop's turn shorter than a small copy, they are raised to the loop's
/// rates, but not above those of one direction alone.
[[nodiscard]] CopyRates with_turns(const StreamedProblem& streamed, CopyRates rates,
                                   const std::vector<TurnsLoop>& loops);

/// The shortest wait of any copy; in a batch, its share of the call's wait.
[[nodiscard]] double least_before_copy(const CopyRates& rates);
/// The wait of a copy of the candidate at its engine: the turn if measured, else the latency. In a batch only the first
/// copy waits.
[[nodiscard]] double before_copy(const CopyRates& rates, const Candidate& candidate);

}  // namespace pgtune::pipeline

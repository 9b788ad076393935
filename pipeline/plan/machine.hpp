// SPDX-License-Identifier: MIT
// A machine of three workers: copy in, compute, copy out. With measured rates it predicts what a candidate takes; with
// made-up ones it tests orders, limits and accounting.
// What a copy engine loses from one copy to the next. Copies that one stream gives it follow each other at once; where
// streams take turns it changes from one to another, and waits for what orders them. How long that is depends on the
// streams and not on the copies, so it is measured on copies alone, in the loops that pipelines use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "pipeline/plan/schedule.hpp"
#include "pipeline/plan/timeline.hpp"

namespace pgtune::pipeline {

/// From the end of a copy to the beginning of the next one of its direction, where streams are used in this way.
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

/// Copies between host and GPU, in bytes a second.
struct CopyRates {
  double pinned_in = 0, pinned_out = 0;
  double pinned_in_both = 0, pinned_out_both = 0;  ///< while the other direction copies too
  double pageable_in = 0, pageable_out = 0;
  double pageable_in_both = 0, pageable_out_both = 0;
  double host_copy = 0;                               ///< pageable to pinned by helper threads
  double latency_s = 0;                               ///< of a small copy between pinned memory and the GPU
  double issue_s = 0;                                 ///< the host's time for one asynchronous call
  std::optional<double> wait_s = {};                  ///< until the host goes on after an operation that it waits for
  std::optional<std::vector<StreamTurn>> turns = {};  ///< of pinned memory; absent where they were not measured

  PGTUNE_FIELDS(pinned_in, pinned_out, pinned_in_both, pinned_out_both, pageable_in, pageable_out, pageable_in_both,
                pageable_out_both, host_copy, latency_s, issue_s, wait_s, turns)
  friend bool operator==(const CopyRates&, const CopyRates&) = default;
};

/// Seconds of the kernel for a chunk of so much extent, by cut and extent.
using ComputeTimes = std::map<Cut, std::map<std::int64_t, double>>;
/// Between the known extents linearly, beyond them in proportion; 0 where the cut has none.
[[nodiscard]] double compute_time(const ComputeTimes& times, Cut cut, std::int64_t extent);

struct Machine {
  CopyRates rates;
  ComputeTimes compute;  ///< in a few launches
  double slowdown = 1;   ///< of kernels that run all the time, by the power cap
  bool one_copy_engine = false;
  /// Each worker takes operations strictly in the order of issue, as GPUs with one hardware queue do: an operation that
  /// is not ready holds up those behind it.
  bool in_issue_order = false;
};

/// What `candidate`, whose schedule is given, does on the machine.
[[nodiscard]] Timeline simulate(const Machine& machine, const Candidate& candidate, const Schedule& schedule);

inline constexpr int kTurnsChunks = 32;

/// A and D of kTurnsChunks chunks of about `chunk_bytes` each; B stays, and is small.
[[nodiscard]] StreamedProblem turns_problem(std::int64_t chunk_bytes);
/// Of each way in which pipelines of several streams use them, one, in chunks of that problem; with batched copies
/// where there are such.
[[nodiscard]] std::vector<Candidate> turns_candidates(const StreamedProblem& streamed, bool batched_copies);
/// From the time of one of them, with kernels that take none; of batched copies, from a call to the next. `rates`
/// without turns.
[[nodiscard]] StreamTurn turn_of(const StreamedProblem& streamed, const CopyRates& rates, const Candidate& candidate,
                                 double measured_s);

/// One of them as it ran.
struct TurnsLoop {
  Candidate candidate = {};
  double measured_s = 0;
};
/// `rates` with the turns of all loops. The rates of both directions at once are a moment's, and what else the host
/// does lowers them; where by them a turn of a loop were shorter than what a small copy takes, they are raised to what
/// the loop needed, but not above those of a direction alone.
[[nodiscard]] CopyRates with_turns(const StreamedProblem& streamed, CopyRates rates,
                                   const std::vector<TurnsLoop>& loops);

/// The least that any copy waits for; in a batch, its share of the call's.
[[nodiscard]] double least_before_copy(const CopyRates& rates);
/// What a copy of the candidate waits for at its engine: its turn where that was measured, else the latency. Of a batch
/// the first copy does.
[[nodiscard]] double before_copy(const CopyRates& rates, const Candidate& candidate);

}  // namespace pgtune::pipeline

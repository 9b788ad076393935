// SPDX-License-Identifier: MIT
// What a copy engine loses from one copy to the next. Copies that one stream gives it follow each other at once; where
// streams take turns it changes from one to another, and waits for what orders them. How long that is depends on the
// streams and not on the copies, so it is measured on copies alone, in the loops that pipelines use.
#pragma once

#include <vector>

#include "pipeline/plan/machine.hpp"

namespace pgtune::pipeline {

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

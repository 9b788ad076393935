// SPDX-License-Identifier: MIT
// The candidates of a problem, what the machine's rates make one expect of them, the named ones, and the time that none
// can beat: the slowest worker's work, with what it has to wait for before and after.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/candidate.hpp"
#include "pipeline/plan/machine.hpp"

namespace pgtune::pipeline {

/// The bus is a worker of its own where both directions at once are slower than each alone.
enum class Limiter { kCopyIn, kCompute, kCopyOut, kBus };
/// "copy in", "compute", "copy out", "bus".
[[nodiscard]] EnumTable<Limiter> enum_table(Limiter limiter);

struct Bound {
  double total_s = 0;  ///< fill + work + drain of the limiter
  Limiter limiter = Limiter::kCopyIn;
  double work_s = 0;   ///< of the limiter, all chunks
  double fill_s = 0;   ///< before its first operation at the earliest
  double drain_s = 0;  ///< after its last at the earliest

  PGTUNE_FIELDS(total_s, limiter, work_s, fill_s, drain_s)
  friend bool operator==(const Bound&, const Bound&) = default;
};

/// Of pinned memory, as many buffers as chunks, calls that cost nothing, and chunks of `extent` along `cut`; each
/// worker at the rate that it has alone and can hold.
[[nodiscard]] Bound bound_of(const StreamedProblem& streamed, const Machine& machine, Cut cut, std::int64_t extent);

/// What of a space a user asks for.
struct SpaceLimits {
  Limits limits;
  std::optional<Cut> cut;            ///< that one only
  std::optional<HostMemory> memory;  ///< that one only
  std::vector<int> host_nodes = {};  ///< NUMA nodes to choose from; fewer than two: none
};

/// Every legal candidate of cuts_of(), but serial loops, the default stream and zero-copy, which are rungs of the
/// ladder (zero-copy is slower wherever a kernel reads an operand more than once); zero-copy alone
/// where only mapped memory is wanted. In a fixed order. Where there is none, the reasons say why: each once.
struct Space {
  std::vector<Candidate> candidates;
  std::vector<std::string> reasons;
};
[[nodiscard]] Space enumerate(const StreamedProblem& streamed, const SpaceLimits& limits);

/// Cuts that divide every operand that streams; where there is none, those that divide some.
[[nodiscard]] std::vector<Cut> cuts_of(const StreamedProblem& streamed, const SpaceLimits& limits);

/// As simulated; at the power cap no less than the bound of its chunks. The cap holds a mean of power: kernels that
/// rest in between run as fast as in a few launches, until they fill the time that the cap leaves them.
[[nodiscard]] double expected_time(const StreamedProblem& streamed, const Machine& machine, const Candidate& candidate);

struct Expected {
  Candidate candidate;
  double time_s = 0;
};
/// All of them simulated, the fastest first; among equals those with fewer buffers and streams.
[[nodiscard]] std::vector<Expected> expect(const StreamedProblem& streamed, const Machine& machine,
                                           const std::vector<Candidate>& candidates);

/// Legal candidates that differ from `center` in one property, or in the chunk together with the buffers.
[[nodiscard]] std::vector<Candidate> neighbours(const StreamedProblem& streamed, const Candidate& center,
                                                const SpaceLimits& limits);

/// A named step from the serial loop to the tuned pipeline, or a trap beside the ladder.
struct Rung {
  std::string name;
  Candidate candidate;
  bool trap = false;  ///< not on the way up: shown for what it costs
};
/// With the cut and chunk of `guess` throughout, where its chunks allow; illegal rungs are left out.
[[nodiscard]] std::vector<Rung> ladder(const StreamedProblem& streamed, const Candidate& guess, const Limits& limits);

/// The smallest bound over the chunk extents of the cuts.
struct SpaceBound {
  Bound bound;
  Cut cut = Cut::kM;
  std::int64_t chunk = 0;
};
[[nodiscard]] SpaceBound least_bound(const StreamedProblem& streamed, const Machine& machine,
                                     const std::vector<Cut>& cuts);

}  // namespace pgtune::pipeline

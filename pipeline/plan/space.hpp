// SPDX-License-Identifier: MIT
// The candidates of a problem, their predicted times from the machine's rates, the named ones, and the lower bound of
// the time: the slowest worker's work, with its waits before and after.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/candidate.hpp"
#include "pipeline/plan/machine.hpp"

namespace pgtune::pipeline {

/// The bus is a separate worker if both directions at once are slower than each alone.
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

/// The bound for pinned memory, one buffer per chunk, free calls, and chunks of `extent` along `cut`; each worker has
/// its sustained rate when alone.
[[nodiscard]] Bound bound_of(const StreamedProblem& streamed, const Machine& machine, Cut cut, std::int64_t extent);

/// The part of the space that a user selects.
struct SpaceLimits {
  Limits limits;
  std::optional<Cut> cut;            ///< only this one
  std::optional<HostMemory> memory;  ///< only this one
  std::vector<int> host_nodes = {};  ///< NUMA nodes to try; fewer than two: none
};

/// Every legal candidate of cuts_of(), in a fixed order. Serial loops, the default stream and zero-copy are excluded:
/// they are rungs of the ladder (zero-copy is slower if a kernel reads an operand more than once). If only mapped
/// memory is selected, only zero-copy is included. If there are none, the reasons say why, each once.
struct Space {
  std::vector<Candidate> candidates;
  std::vector<std::string> reasons;
};
[[nodiscard]] Space enumerate(const StreamedProblem& streamed, const SpaceLimits& limits);

/// Cuts that divide every streaming operand; if there are none, those that divide some.
[[nodiscard]] std::vector<Cut> cuts_of(const StreamedProblem& streamed, const SpaceLimits& limits);

/// The simulated time; at the power cap at least the bound of its chunks. The cap limits mean power: kernels with
/// pauses run as fast as in a few launches, until they use up the time that the cap allows.
[[nodiscard]] double expected_time(const StreamedProblem& streamed, const Machine& machine, const Candidate& candidate);

struct Expected {
  Candidate candidate;
  double time_s = 0;
};
/// All candidates by simulated time, the fastest first; among equals those with fewer buffers and streams.
[[nodiscard]] std::vector<Expected> expect(const StreamedProblem& streamed, const Machine& machine,
                                           const std::vector<Candidate>& candidates);

/// Legal candidates that differ from `center` in one property, or in the chunk together with the buffers.
[[nodiscard]] std::vector<Candidate> neighbours(const StreamedProblem& streamed, const Candidate& center,
                                                const SpaceLimits& limits);

/// A named step from the serial loop to the tuned pipeline, or a known mistake for comparison.
struct Rung {
  std::string name;
  Candidate candidate;
  bool trap = false;  ///< a known mistake: shown for its cost
};
/// All rungs have the cut and chunk of `guess` if possible; illegal rungs are left out.
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

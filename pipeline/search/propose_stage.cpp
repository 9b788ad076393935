// SPDX-License-Identifier: MIT
#include <algorithm>

#include "pipeline/search/pipeline_run.hpp"

namespace pgtune::session {
namespace {

using pipeline::Candidate;

/// Of the model's ranking, so many that differ in more than buffers are tried before its neighbourhood is.
constexpr std::size_t kFirstProposals = 6;
/// The model's ranking of neighbours is followed until one is expected to be so much slower than the best.
constexpr double kHopeless = 1.3;
constexpr int kRefinements = 8;

/// The ladder's rungs, then what the model ranks first.
Result<void> climb_ladder(PipelineRun& run) {
  run.rungs = pipeline::ladder(run.streamed, run.guess, run.space_limits.limits);
  std::erase_if(run.rungs, [&](const pipeline::Rung& rung) {
    return run.options.memory && rung.candidate.memory != *run.options.memory;
  });
  if (auto ok = run.try_one(run.guess); !ok) return ok;
  for (const pipeline::Rung& rung : run.rungs) {
    if (run.stopped()) return {};
    if (auto ok = run.try_one(rung.candidate); !ok) return ok;
  }
  std::vector<Candidate> first;
  for (const pipeline::Expected& expected : run.expected) {
    if (first.size() >= kFirstProposals) break;
    const bool alike = std::any_of(first.begin(), first.end(), [&](const Candidate& other) {
      return other.chunk == expected.candidate.chunk && other.cut == expected.candidate.cut &&
             other.use == expected.candidate.use && other.memory == expected.candidate.memory;
    });
    if (!alike) first.push_back(expected.candidate);
  }
  for (const Candidate& candidate : first) {
    if (run.proposals_over()) return {};
    if (auto ok = run.try_one(candidate); !ok) return ok;
  }
  return {};
}

/// Moves to a better neighbour as long as there is one.
Result<void> refine_best(PipelineRun& run) {
  for (int step = 0; step < kRefinements && run.best != nullptr; ++step) {
    const Candidate center = run.best->candidate;
    const auto around =
        pipeline::expect(run.streamed, run.machine, pipeline::neighbours(run.streamed, center, run.space_limits));
    for (const pipeline::Expected& expected : around) {
      if (run.proposals_over()) return {};
      if (expected.time_s > kHopeless * around.front().time_s) break;
      if (auto ok = run.try_one(expected.candidate); !ok) return ok;
    }
    if (run.best->candidate == center) return {};
  }
  return {};
}

}  // namespace

Result<void> propose_pipelines(PipelineRun& run) {
  run.expected = pipeline::expect(run.streamed, run.machine, run.space.candidates);
  run.guess = run.expected.front().candidate;
  if (auto ok = climb_ladder(run); !ok) return ok;
  return refine_best(run);
}

}  // namespace pgtune::session

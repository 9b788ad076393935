// SPDX-License-Identifier: MIT
// One search for the pipeline of a problem: rates and kernels alone, a first guess, the ladder, candidates around the
// best so far, and balanced rounds of the best contenders.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/search/pipeline_answer.hpp"
#include "pipeline/search/pipeline_device.hpp"
#include "tuner/session/search_session.hpp"

namespace pgtune::session {

struct PipelineOptions {
  std::int64_t pinned_limit_bytes = 0;
  std::optional<pipeline::Cut> cut;
  std::optional<pipeline::HostMemory> memory;
  Budget budget;  ///< of proposals; the ladder and the rounds still run
  Conditions conditions;
  std::vector<protocol::ChunkKernel> kernels;  ///< built ones, for chunks of exactly these problems
  std::string kernels_text;                    ///< the same for the same kernels, for a store; empty of none
  std::uint64_t seed = 1;
  int rounds = 8;
  std::size_t finalists = 4;  ///< in addition to the ladder and the first guess
};

/// Stores a search's results. Called as soon as each is known; the implementation may throw.
class PipelineStore {
 public:
  virtual ~PipelineStore() = default;
  /// Trials of earlier searches of this problem on this board, by Candidate::key(); they are not repeated.
  [[nodiscard]] virtual std::map<std::string, pipeline::TrialResult> trials() = 0;
  virtual void save_trial(const pipeline::Candidate& candidate, const pipeline::TrialResult& result) = 0;
  virtual void save_round_sample(const pipeline::Candidate& candidate, const pipeline::RunSample& sample) = 0;
};

struct PipelineProgress {
  enum class Phase { kPrepare, kRates, kKernels, kSearch, kRounds };
  Phase phase = Phase::kPrepare;
  std::int64_t done = 0, total = 0;  ///< candidates or rounds
  double best_s = 0, bound_s = 0;    ///< 0: unknown yet
};
using PipelineProgressCallback = std::function<void(const PipelineProgress&)>;

struct PipelineResult {
  PipelineAnswer answer;
  bool any_valid = false;
  bool interrupted = false;
};

/// `stop` is polled between requests. Errors: those of PipelineDevice; usage if no candidate is legal, with the
/// reasons.
[[nodiscard]] Result<PipelineResult> run_pipeline_search(const pipeline::StreamedProblem& streamed,
                                                         device::PipelineDevice& device, PipelineStore& store,
                                                         const PipelineOptions& options, const std::atomic<bool>& stop,
                                                         const PipelineProgressCallback& progress,
                                                         const Clock& clock = system_clock());

}  // namespace pgtune::session

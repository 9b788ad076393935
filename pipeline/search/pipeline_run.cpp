// SPDX-License-Identifier: MIT
#include "pipeline/search/pipeline_run.hpp"

#include <utility>

namespace pgtune::session {
namespace {

/// A candidate has to be so much faster in screening to become the centre.
constexpr double kBetter = 0.002;
constexpr double kPipelineScreen_s = 30e-3;
constexpr int kPipelineScreenSamples = 3;

}  // namespace

PipelineRun::PipelineRun(const pipeline::StreamedProblem& searched, device::PipelineDevice& measured_on,
                         PipelineStore& remembered_in, const PipelineOptions& wanted,
                         const std::atomic<bool>& stop_flag, const PipelineProgressCallback& progress,
                         const Clock& time)
    : streamed(searched),
      device(measured_on),
      store(remembered_in),
      options(wanted),
      stop(stop_flag),
      report(progress),
      clock(time),
      start_s(time.now_s()) {
  answer.streamed = searched;
}

bool PipelineRun::proposals_over() const {
  const Budget& budget = options.budget;
  return stopped() || (budget.seconds && clock.now_s() - start_s >= *budget.seconds) ||
         (budget.trials && answer.tried >= *budget.trials);
}

void PipelineRun::tell(PipelineProgress::Phase phase, std::int64_t done, std::int64_t total) const {
  if (report) report({phase, done, total, best ? best->time_s() : 0, answer.bound.total_s});
}

Result<void> PipelineRun::try_one(const pipeline::Candidate& candidate) {
  if (tried.find(candidate) != nullptr) return {};
  TriedPipeline one;
  one.candidate = candidate;
  one.expected_s = expected_time(streamed, machine, candidate);
  if (const auto stored = known.find(candidate.key()); stored != known.end()) {
    one.result = stored->second;
  } else {
    auto result = device.trial({candidate, kPipelineScreenSamples, kPipelineScreen_s});
    if (!result) return tl::unexpected<Error>(result.error());
    one.result = std::move(*result);
    store.save_trial(candidate, one.result);
  }
  ++answer.tried;
  answer.valid += one.right() ? 1 : 0;
  const TriedPipeline& added = tried.add(std::move(one));
  if (added.right() && (best == nullptr || added.time_s() < (1 - kBetter) * best->time_s())) best = &added;
  tell(PipelineProgress::Phase::kSearch, answer.tried, 0);
  return {};
}

}  // namespace pgtune::session

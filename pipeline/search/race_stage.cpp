// SPDX-License-Identifier: MIT
#include <algorithm>

#include "pipeline/search/pipeline_run.hpp"
#include "tuner/session/rounds/round_order.hpp"
#include "tuner/session/rounds/round_plan.hpp"

namespace pgtune::session {
namespace {

using pipeline::Candidate;

/// Pipelines that take up to so much longer than the best may meet the power cap as it does.
constexpr double kMayMeetCap = 1.3;
constexpr double kPipelineRound_s = 60e-3;

/// Rungs, first guess and the fastest in screening; nobody twice.
std::vector<Candidate> pipeline_contenders(const PipelineRun& run) {
  std::vector<Candidate> chosen;
  const auto add = [&](const Candidate& candidate) {
    const TriedPipeline* const known = run.tried.find(candidate);
    if (known != nullptr && known->right() && std::find(chosen.begin(), chosen.end(), candidate) == chosen.end())
      chosen.push_back(candidate);
  };
  for (const pipeline::Rung& rung : run.rungs) add(rung.candidate);
  add(run.guess);
  const std::size_t wanted = chosen.size() + run.options.finalists;
  for (const TriedPipeline* const one : run.tried.fastest_first()) {
    if (chosen.size() < wanted) add(one->candidate);
  }
  return chosen;
}

/// Contenders whose samples are of one kind, which take turns.
struct PipelineField {
  std::vector<Candidate> candidates;
  SampleTiming timing;
  RoundOrder order;
};

/// At the power cap those that may meet it have settled samples, one after the other, so that none begins at the
/// clock that another pipeline earned; the rest leaves the GPU idle for too long to meet it.
std::vector<PipelineField> pipeline_fields(const PipelineRun& run) {
  std::vector<Candidate> near, rest;
  for (const Candidate& candidate : pipeline_contenders(run)) {
    const bool meets = run.answer.slowdown && run.tried.find(candidate)->time_s() <= kMayMeetCap * run.best->time_s();
    (meets ? near : rest).push_back(candidate);
  }
  const std::uint64_t seed = order_seed(run.options.seed, run.clock.utc_iso8601() + " pipeline");
  std::vector<PipelineField> fields;
  if (!near.empty()) fields.push_back({near, kSettledSample, {near.size(), seed}});
  if (!rest.empty()) fields.push_back({rest, {kPipelineRound_s, 0}, {rest.size(), seed}});
  return fields;
}

/// One round of a field; whether anybody has a sample.
Result<bool> race_once(PipelineRun& run, const PipelineField& field, int round) {
  protocol::PipelineRound request;
  request.candidates = field.candidates;
  request.round = round + 1;
  request.sample_s = field.timing.sample_s;
  request.settle_s = field.timing.settle_s;
  for (const std::size_t index : field.order.order(round)) request.order.push_back(static_cast<int>(index));
  auto report = run.device.round(request);
  if (!report) return tl::unexpected<Error>(report.error());
  bool any = false;
  for (std::size_t i = 0; i < field.candidates.size(); ++i) {
    TriedPipeline& tried = *run.tried.find(field.candidates[i]);
    if (report->samples[i]) {
      any = true;
      run.store.save_round_sample(field.candidates[i], *report->samples[i]);
      tried.rounds.push_back(*report->samples[i]);
    } else {
      tried.result.outcome = report->outcomes[i];
    }
  }
  return any;
}

}  // namespace

Result<void> race_pipelines(PipelineRun& run) {
  const std::vector<PipelineField> all = pipeline_fields(run);
  if (all.empty() || run.stopped()) return {};
  for (int round = 0; round < run.options.rounds && !run.stopped(); ++round) {
    run.tell(PipelineProgress::Phase::kRounds, round + 1, run.options.rounds);
    bool any = false;
    for (const PipelineField& field : all) {
      const auto measured = race_once(run, field, round);
      if (!measured) return tl::unexpected<Error>(measured.error());
      any = any || *measured;
    }
    if (!any) break;
    ++run.answer.rounds;
  }
  run.best = run.tried.fastest();
  return {};
}

}  // namespace pgtune::session

// SPDX-License-Identifier: MIT
#include "pipeline/search/tried_pipelines.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/session/sample_pairs.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

using pipeline::Candidate;
using pipeline::RunSample;

std::vector<double> times_of(const std::vector<RunSample>& samples, double RunSample::*time) {
  std::vector<double> times;
  for (const RunSample& sample : samples) {
    if (sample.runs > 0) times.push_back(sample.*time / static_cast<double>(sample.runs));
  }
  return times;
}

/// The median over the samples that have the value; nothing if none has.
std::optional<double> median_of(const std::vector<RunSample>& samples, std::optional<double> RunSample::*number) {
  std::vector<double> numbers;
  for (const RunSample& sample : samples) {
    if (sample.*number) numbers.push_back(*(sample.*number));
  }
  if (numbers.empty()) return std::nullopt;
  return stats::median(numbers);
}

/// Those that count.
const std::vector<RunSample>& samples_of(const TriedPipeline& tried) {
  return tried.rounds.empty() ? tried.result.samples : tried.rounds;
}

/// Converts them to samples of launches, so that the statistics of rounds apply.
std::vector<Sample> as_samples(const std::vector<RunSample>& runs) {
  std::vector<Sample> samples;
  for (const RunSample& run : runs) {
    Sample sample;
    sample.stage = run.stage;
    sample.round = run.round;
    sample.position = run.position;
    sample.launches = run.runs;
    sample.time_s = run.host_s;
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace

bool TriedPipeline::right() const { return result.outcome.kind == OutcomeKind::kOk && !result.samples.empty(); }

double TriedPipeline::time_s() const { return stats::median(times_of(samples_of(*this), &RunSample::host_s)); }

const TriedPipeline* TriedPipelines::find(const Candidate& candidate) const {
  const auto known = tried_.find(candidate.key());
  return known == tried_.end() ? nullptr : &known->second;
}

TriedPipeline* TriedPipelines::find(const Candidate& candidate) {
  const auto known = tried_.find(candidate.key());
  return known == tried_.end() ? nullptr : &known->second;
}

const TriedPipeline& TriedPipelines::add(TriedPipeline tried) {
  std::string key = tried.candidate.key();
  return tried_.emplace(std::move(key), std::move(tried)).first->second;
}

std::vector<const TriedPipeline*> TriedPipelines::fastest_first() const {
  std::vector<const TriedPipeline*> fastest;
  for (const auto& [key, tried] : tried_) {
    if (tried.right()) fastest.push_back(&tried);
  }
  std::stable_sort(fastest.begin(), fastest.end(),
                   [](const auto* a, const auto* b) { return a->time_s() < b->time_s(); });
  return fastest;
}

const TriedPipeline* TriedPipelines::fastest() const {
  const std::vector<const TriedPipeline*> ranked = fastest_first();
  const auto in_rounds =
      std::find_if(ranked.begin(), ranked.end(), [](const auto* tried) { return !tried->rounds.empty(); });
  if (in_rounds != ranked.end()) return *in_rounds;
  return ranked.empty() ? nullptr : ranked.front();
}

MeasuredPipeline TriedPipelines::measured(const Candidate& candidate) const {
  MeasuredPipeline out;
  out.candidate = candidate;
  const TriedPipeline* const tried = find(candidate);
  if (tried == nullptr) return out;
  const std::vector<RunSample>& samples = samples_of(*tried);
  const std::vector<double> times = times_of(samples, &RunSample::host_s);
  out.outcome = tried->result.outcome;
  out.time_s = stats::median(times);
  out.device_s = stats::median(times_of(samples, &RunSample::device_s));
  out.spread = stats::relative_spread(times);
  out.samples = static_cast<std::int64_t>(samples.size());
  out.in_rounds = !tried->rounds.empty();
  out.expected_s = tried->expected_s;
  out.sm_clock_hz = median_of(samples, &RunSample::sm_clock_hz);
  out.lead_in_s = median_of(samples, &RunSample::lead_in_s);
  return out;
}

TimeRatio TriedPipelines::ratio(const Candidate& over, const TriedPipeline& best) const {
  const TriedPipeline* const tried = find(over);
  if (tried == nullptr) return {};
  const auto log_ratio = log_time_ratio(as_samples(tried->rounds), as_samples(best.rounds));
  if (log_ratio.pairs == 0) return {};
  return {std::exp(log_ratio.mean), std::exp(log_ratio.interval.low), std::exp(log_ratio.interval.high),
          static_cast<std::int64_t>(log_ratio.pairs)};
}

}  // namespace pgtune::session

// SPDX-License-Identifier: MIT
#include "tuner/session/host_pipeline/pipeline_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tuner/pipeline/chunk_plan.hpp"
#include "tuner/session/rounds/round_order.hpp"
#include "tuner/session/rounds/sample_pairs.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

using pipeline::Candidate;
using pipeline::RunSample;

/// Of the model's ranking, so many that differ in more than buffers are tried before its neighbourhood is.
constexpr std::size_t kFirstProposals = 6;
/// A candidate has to be so much faster in screening to become the centre.
constexpr double kBetter = 0.002;
/// The model's ranking of neighbours is followed until one is expected to be so much slower than the best.
constexpr double kHopeless = 1.3;
constexpr double kScreen_s = 30e-3, kRound_s = 60e-3;
constexpr int kScreenSamples = 3;
constexpr int kRefinements = 8;

std::vector<double> times_of(const std::vector<RunSample>& samples, double RunSample::*time) {
  std::vector<double> times;
  for (const RunSample& sample : samples) {
    if (sample.runs > 0) times.push_back(sample.*time / static_cast<double>(sample.runs));
  }
  return times;
}

/// As samples of launches, so that the statistics of rounds apply.
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

class Search {
 public:
  Search(const pipeline::StreamedProblem& streamed, device::PipelineDevice& device, PipelineStore& store,
         const PipelineOptions& options, const std::atomic<bool>& stop, const PipelineProgressCallback& progress,
         const Clock& clock)
      : streamed_(streamed),
        device_(device),
        store_(store),
        options_(options),
        stop_(stop),
        report_(progress),
        clock_(clock),
        start_s_(clock.now_s()) {
    answer_.streamed = streamed;
  }

  Result<PipelineResult> run() {
    if (auto ok = prepare(); !ok) return tl::unexpected<Error>(ok.error());
    if (auto ok = guess(); !ok) return tl::unexpected<Error>(ok.error());
    if (auto ok = climb(); !ok) return tl::unexpected<Error>(ok.error());
    if (auto ok = refine(); !ok) return tl::unexpected<Error>(ok.error());
    if (auto ok = rounds(); !ok) return tl::unexpected<Error>(ok.error());
    if (auto ok = conclude(); !ok) return tl::unexpected<Error>(ok.error());
    answer_.elapsed_s = clock_.now_s() - start_s_;
    return PipelineResult{std::move(answer_), best_ != nullptr, stop_.load()};
  }

 private:
  struct Tried {
    pipeline::TrialResult result;
    std::vector<RunSample> rounds;
    double expected_s = 0;
    [[nodiscard]] bool right() const { return result.outcome.kind == OutcomeKind::kOk && !result.samples.empty(); }
    [[nodiscard]] double time_s() const {
      return stats::median(times_of(rounds.empty() ? result.samples : rounds, &RunSample::host_s));
    }
  };

  [[nodiscard]] bool stopped() const { return stop_.load(); }
  [[nodiscard]] bool proposals_over() const {
    const Budget& budget = options_.budget;
    return stopped() || (budget.seconds && clock_.now_s() - start_s_ >= *budget.seconds) ||
           (budget.trials && answer_.tried >= *budget.trials);
  }

  void tell(PipelineProgress::Phase phase, std::int64_t done, std::int64_t total) {
    if (report_) report_({phase, done, total, best_ ? best_->second.time_s() : 0, answer_.bound.total_s});
  }

  Result<void> prepare() {
    tell(PipelineProgress::Phase::kPrepare, 0, 0);
    auto prepared = device_.prepare({streamed_, options_.pinned_limit_bytes, options_.conditions, options_.kernels});
    if (!prepared) return tl::unexpected<Error>(prepared.error());
    answer_.prepared = std::move(*prepared);
    space_limits_ = {{answer_.prepared.device_bytes, answer_.prepared.pinned_bytes}, options_.cut, options_.memory};
    space_ = pipeline::enumerate(streamed_, space_limits_);
    answer_.space = static_cast<std::int64_t>(space_.candidates.size());
    if (space_.candidates.empty())
      return fail(ErrorKind::kUsage,
                  fmt::format("{} has no pipeline here: {}", streamed_.title(),
                              space_.reasons.empty() ? "no cut divides what streams"
                                                     : fmt::format("{}", fmt::join(space_.reasons, "; "))));
    tell(PipelineProgress::Phase::kRates, 0, 0);
    const auto rates = device_.rates();
    if (!rates) return tl::unexpected<Error>(rates.error());
    answer_.rates = machine_.rates = *rates;
    const std::vector<pipeline::Cut> cuts = pipeline::cuts_of(streamed_, space_limits_);
    for (const pipeline::Cut cut : cuts) {
      tell(PipelineProgress::Phase::kKernels, static_cast<std::int64_t>(answer_.chunk_times.size()), 0);
      const auto report = device_.kernels({cut, pipeline::chunk_extents(streamed_.problem, cut)});
      if (!report) return tl::unexpected<Error>(report.error());
      for (const pipeline::ChunkTime& time : report->times) {
        machine_.compute[cut][time.extent] = time.time_s;
        answer_.chunk_times.push_back(time);
      }
    }
    const pipeline::SpaceBound bound = pipeline::least_bound(streamed_, machine_, cuts);
    answer_.bound = bound.bound;
    answer_.bound_cut = bound.cut;
    answer_.bound_chunk = bound.chunk;
    known_ = store_.trials();
    return {};
  }

  Result<void> guess() {
    expected_ = pipeline::expect(streamed_, machine_, space_.candidates);
    guess_ = expected_.front().candidate;
    return {};
  }

  [[nodiscard]] double expected_of(const Candidate& candidate) const {
    return simulate(machine_, candidate, make_schedule(streamed_, candidate)).total_s;
  }

  /// Checks and screens a candidate that was not tried yet. Screening of an earlier search counts.
  Result<void> try_one(const Candidate& candidate) {
    const std::string key = candidate.key();
    if (tried_.count(key) > 0) return {};
    Tried tried;
    tried.expected_s = expected_of(candidate);
    if (const auto known = known_.find(key); known != known_.end()) {
      tried.result = known->second;
    } else {
      auto result = device_.trial({candidate, kScreenSamples, kScreen_s});
      if (!result) return tl::unexpected<Error>(result.error());
      tried.result = std::move(*result);
      if (tried.result.outcome.kind != OutcomeKind::kNotRecorded) store_.save_trial(candidate, tried.result);
    }
    ++answer_.tried;
    answer_.valid += tried.right() ? 1 : 0;
    const auto place = tried_.emplace(key, std::make_pair(candidate, std::move(tried))).first;
    const auto& added = place->second;
    if (added.second.right() && (best_ == nullptr || added.second.time_s() < (1 - kBetter) * best_->second.time_s()))
      best_ = &added;
    tell(PipelineProgress::Phase::kSearch, answer_.tried, 0);
    return {};
  }

  /// The ladder's rungs, then what the model ranks first.
  Result<void> climb() {
    rungs_ = pipeline::ladder(streamed_, guess_, space_limits_.limits);
    std::erase_if(rungs_, [&](const pipeline::Rung& rung) {
      return options_.memory && rung.candidate.memory != *options_.memory;
    });
    if (auto ok = try_one(guess_); !ok) return ok;
    for (const pipeline::Rung& rung : rungs_) {
      if (stopped()) return {};
      if (auto ok = try_one(rung.candidate); !ok) return ok;
    }
    std::vector<Candidate> first;
    for (const pipeline::Expected& expected : expected_) {
      if (first.size() >= kFirstProposals) break;
      const bool alike = std::any_of(first.begin(), first.end(), [&](const Candidate& other) {
        return other.chunk == expected.candidate.chunk && other.cut == expected.candidate.cut &&
               other.use == expected.candidate.use && other.memory == expected.candidate.memory;
      });
      if (!alike) first.push_back(expected.candidate);
    }
    for (const Candidate& candidate : first) {
      if (proposals_over()) return {};
      if (auto ok = try_one(candidate); !ok) return ok;
    }
    return {};
  }

  /// Moves to a better neighbour as long as there is one.
  Result<void> refine() {
    for (int step = 0; step < kRefinements && best_ != nullptr; ++step) {
      const Candidate center = best_->first;
      const auto around = pipeline::expect(streamed_, machine_, pipeline::neighbours(streamed_, center, space_limits_));
      for (const pipeline::Expected& expected : around) {
        if (proposals_over()) return {};
        if (expected.time_s > kHopeless * around.front().time_s) break;
        if (auto ok = try_one(expected.candidate); !ok) return ok;
      }
      if (best_->first == center) return {};
    }
    return {};
  }

  /// Rungs, first guess and the fastest in screening; nobody twice.
  [[nodiscard]] std::vector<Candidate> contenders() const {
    std::vector<Candidate> chosen;
    const auto add = [&](const Candidate& candidate) {
      const auto known = tried_.find(candidate.key());
      if (known != tried_.end() && known->second.second.right() &&
          std::find(chosen.begin(), chosen.end(), candidate) == chosen.end())
        chosen.push_back(candidate);
    };
    for (const pipeline::Rung& rung : rungs_) add(rung.candidate);
    add(guess_);
    std::vector<const std::pair<Candidate, Tried>*> fastest;
    for (const auto& [key, tried] : tried_) {
      if (tried.second.right()) fastest.push_back(&tried);
    }
    std::sort(fastest.begin(), fastest.end(),
              [](const auto* a, const auto* b) { return a->second.time_s() < b->second.time_s(); });
    const std::size_t wanted = chosen.size() + options_.finalists;
    for (const auto* one : fastest) {
      if (chosen.size() < wanted) add(one->first);
    }
    return chosen;
  }

  Result<void> rounds() {
    const std::vector<Candidate> chosen = contenders();
    if (chosen.empty() || stopped()) return {};
    const RoundOrder order(chosen.size(), order_seed(options_.seed, clock_.utc_iso8601() + " pipeline"));
    for (int round = 0; round < options_.rounds && !stopped(); ++round) {
      tell(PipelineProgress::Phase::kRounds, round + 1, options_.rounds);
      protocol::PipelineRound request;
      request.candidates = chosen;
      request.round = round + 1;
      request.sample_s = kRound_s;
      for (const std::size_t index : order.order(round)) request.order.push_back(static_cast<int>(index));
      auto report = device_.round(request);
      if (!report) return tl::unexpected<Error>(report.error());
      bool any = false;
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        Tried& tried = tried_.at(chosen[i].key()).second;
        if (report->samples[i]) {
          any = true;
          store_.save_round_sample(chosen[i], *report->samples[i]);
          tried.rounds.push_back(*report->samples[i]);
        } else if (report->outcomes[i].kind != OutcomeKind::kNotRecorded) {
          tried.result.outcome = report->outcomes[i];
        }
      }
      if (!any) break;
      ++answer_.rounds;
    }
    choose_best();
    return {};
  }

  /// Of those that were in the rounds, if there were any.
  void choose_best() {
    best_ = nullptr;
    for (const bool in_rounds : {true, false}) {
      for (const auto& [key, tried] : tried_) {
        if (!tried.second.right() || tried.second.rounds.empty() == in_rounds) continue;
        if (best_ == nullptr || tried.second.time_s() < best_->second.time_s()) best_ = &tried;
      }
      if (best_ != nullptr) return;
    }
  }

  /// Checks the winner again, after it was timed; whoever is wrong is out, and the next one is checked.
  Result<void> conclude() {
    bool checked = stopped();
    while (best_ != nullptr && !checked) {
      auto again = device_.trial({best_->first, 0, 0});
      if (!again) return tl::unexpected<Error>(again.error());
      checked = again->outcome.kind == OutcomeKind::kOk || again->outcome.kind == OutcomeKind::kNotRecorded;
      if (checked) break;
      answer_.notes.push_back(
          fmt::format("{} failed when it was checked again: {}", best_->first.text(), again->outcome.reason));
      tried_.at(best_->first.key()).second.result.outcome = again->outcome;
      store_.save_trial(best_->first, *again);
      choose_best();
    }
    answer_.complete = !stopped() && best_ != nullptr && answer_.rounds >= options_.rounds;
    answer_.guess = measured(guess_);
    for (const pipeline::Rung& rung : rungs_)
      answer_.ladder.push_back({rung.name, rung.trap, measured(rung.candidate)});
    if (best_ == nullptr) return {};
    answer_.best = measured(best_->first);
    if (const MeasuredRung* const serial = answer_.serial()) answer_.serial_to_best = ratio(serial->measured.candidate);
    answer_.guess_to_best = ratio(guess_);
    if (stopped()) return {};
    if (auto steps = device_.steps(best_->first)) {
      answer_.steps = *steps;
    } else {
      answer_.notes.push_back("its steps were not measured alone: " + steps.error().text());
    }
    if (auto timeline = device_.trace(best_->first)) {
      answer_.timeline = std::move(*timeline);
    } else {
      answer_.notes.push_back("there is no timeline: " + timeline.error().text());
    }
    return {};
  }

  [[nodiscard]] MeasuredPipeline measured(const Candidate& candidate) const {
    MeasuredPipeline out;
    out.candidate = candidate;
    const auto known = tried_.find(candidate.key());
    if (known == tried_.end()) return out;
    const Tried& tried = known->second.second;
    const auto& samples = tried.rounds.empty() ? tried.result.samples : tried.rounds;
    const std::vector<double> times = times_of(samples, &RunSample::host_s);
    out.outcome = tried.result.outcome;
    out.time_s = stats::median(times);
    out.device_s = stats::median(times_of(samples, &RunSample::device_s));
    out.spread = stats::relative_spread(times);
    out.samples = static_cast<std::int64_t>(samples.size());
    out.in_rounds = !tried.rounds.empty();
    out.expected_s = tried.expected_s;
    return out;
  }

  [[nodiscard]] TimeRatio ratio(const Candidate& over) const {
    const auto known = tried_.find(over.key());
    if (known == tried_.end() || best_ == nullptr) return {};
    const auto log_ratio = log_time_ratio(as_samples(known->second.second.rounds), as_samples(best_->second.rounds));
    if (log_ratio.pairs == 0) return {};
    return {std::exp(log_ratio.mean), std::exp(log_ratio.interval.low), std::exp(log_ratio.interval.high),
            static_cast<std::int64_t>(log_ratio.pairs)};
  }

  const pipeline::StreamedProblem& streamed_;
  device::PipelineDevice& device_;
  PipelineStore& store_;
  const PipelineOptions& options_;
  const std::atomic<bool>& stop_;
  const PipelineProgressCallback& report_;
  const Clock& clock_;
  double start_s_;
  PipelineAnswer answer_;
  pipeline::SpaceLimits space_limits_;
  pipeline::Space space_;
  pipeline::Machine machine_;
  std::vector<pipeline::Expected> expected_;
  Candidate guess_;
  std::vector<pipeline::Rung> rungs_;
  std::map<std::string, pipeline::TrialResult> known_;
  std::map<std::string, std::pair<Candidate, Tried>> tried_;
  const std::pair<Candidate, Tried>* best_ = nullptr;
};

}  // namespace

Result<PipelineResult> run_pipeline_search(const pipeline::StreamedProblem& streamed, device::PipelineDevice& device,
                                           PipelineStore& store, const PipelineOptions& options,
                                           const std::atomic<bool>& stop, const PipelineProgressCallback& progress,
                                           const Clock& clock) {
  return Search(streamed, device, store, options, stop, progress, clock).run();
}

}  // namespace pgtune::session

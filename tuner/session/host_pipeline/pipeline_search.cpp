// SPDX-License-Identifier: MIT
#include "tuner/session/host_pipeline/pipeline_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "tuner/pipeline/chunk_plan.hpp"
#include "tuner/session/host_pipeline/tried_pipelines.hpp"
#include "tuner/session/rounds/round_order.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/rounds/steady_run.hpp"

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
/// Kernels that take so much of the bound's time may be the limit at the clock that they can hold.
constexpr double kMayLimit = 0.7;
/// Pipelines that take up to so much longer than the best may meet the power cap as it does.
constexpr double kMayMeetCap = 1.3;
constexpr double kScreen_s = 30e-3, kRound_s = 60e-3;
constexpr int kScreenSamples = 3;
constexpr int kRefinements = 8;

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
    expected_ = pipeline::expect(streamed_, machine_, space_.candidates);
    guess_ = expected_.front().candidate;
    if (auto ok = climb(); !ok) return tl::unexpected<Error>(ok.error());
    if (auto ok = refine(); !ok) return tl::unexpected<Error>(ok.error());
    if (auto ok = rounds(); !ok) return tl::unexpected<Error>(ok.error());
    if (auto ok = conclude(); !ok) return tl::unexpected<Error>(ok.error());
    answer_.elapsed_s = clock_.now_s() - start_s_;
    return PipelineResult{std::move(answer_), best_ != nullptr, stop_.load()};
  }

 private:
  [[nodiscard]] bool stopped() const { return stop_.load(); }
  [[nodiscard]] bool proposals_over() const {
    const Budget& budget = options_.budget;
    return stopped() || (budget.seconds && clock_.now_s() - start_s_ >= *budget.seconds) ||
           (budget.trials && answer_.tried >= *budget.trials);
  }

  void tell(PipelineProgress::Phase phase, std::int64_t done, std::int64_t total) {
    if (report_) report_({phase, done, total, best_ ? best_->time_s() : 0, answer_.bound.total_s});
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
    settle_kernels(cuts);
    const pipeline::SpaceBound bound = pipeline::least_bound(streamed_, machine_, cuts);
    answer_.bound = bound.bound;
    answer_.bound_cut = bound.cut;
    answer_.bound_chunk = bound.chunk;
    known_ = store_.trials();
    return {};
  }

  /// A few launches run at a higher clock than the GPU can hold where they meet the power cap. By how much depends on
  /// the kernel: it is asked of the chunks that are the bound where kernels are slower, since while copies are the
  /// limit chunks of all sizes are alike.
  void settle_kernels(const std::vector<pipeline::Cut>& cuts) {
    const double total_s = pipeline::least_bound(streamed_, machine_, cuts).bound.total_s;
    pipeline::Machine slower = machine_;
    slower.slowdown = 1 / kMayLimit;
    const pipeline::SpaceBound bound = pipeline::least_bound(streamed_, slower, cuts);
    const double alone_s = compute_time(machine_.compute, bound.cut, bound.chunk);
    const double chunks =
        static_cast<double>(extent_of(streamed_.problem, bound.cut)) / static_cast<double>(bound.chunk);
    if (alone_s <= 0 || alone_s * chunks < kMayLimit * total_s) return;
    auto settled = device_.settled({bound.cut, bound.chunk, kSettledSample.sample_s, kSettledSample.settle_s});
    if (!settled) {
      answer_.notes.push_back("the clock that kernels can hold is not known: " + settled.error().text());
      return;
    }
    answer_.settled = std::move(*settled);
    const Sample& sample = answer_.settled->sample;
    if (!met_power_cap(sample, device_.info().max_sm_clock_hz)) return;
    answer_.slowdown = machine_.slowdown = sample.per_launch_s() / alone_s;
  }

  [[nodiscard]] double expected_of(const Candidate& candidate) const {
    return expected_time(streamed_, machine_, candidate);
  }

  /// Checks and screens a candidate that was not tried yet. Screening of an earlier search counts.
  Result<void> try_one(const Candidate& candidate) {
    if (tried_.find(candidate) != nullptr) return {};
    TriedPipeline tried;
    tried.candidate = candidate;
    tried.expected_s = expected_of(candidate);
    if (const auto known = known_.find(candidate.key()); known != known_.end()) {
      tried.result = known->second;
    } else {
      auto result = device_.trial({candidate, kScreenSamples, kScreen_s});
      if (!result) return tl::unexpected<Error>(result.error());
      tried.result = std::move(*result);
      if (tried.result.outcome.kind != OutcomeKind::kNotRecorded) store_.save_trial(candidate, tried.result);
    }
    ++answer_.tried;
    answer_.valid += tried.right() ? 1 : 0;
    const TriedPipeline& added = tried_.add(std::move(tried));
    if (added.right() && (best_ == nullptr || added.time_s() < (1 - kBetter) * best_->time_s())) best_ = &added;
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
      const Candidate center = best_->candidate;
      const auto around = pipeline::expect(streamed_, machine_, pipeline::neighbours(streamed_, center, space_limits_));
      for (const pipeline::Expected& expected : around) {
        if (proposals_over()) return {};
        if (expected.time_s > kHopeless * around.front().time_s) break;
        if (auto ok = try_one(expected.candidate); !ok) return ok;
      }
      if (best_->candidate == center) return {};
    }
    return {};
  }

  /// Rungs, first guess and the fastest in screening; nobody twice.
  [[nodiscard]] std::vector<Candidate> contenders() const {
    std::vector<Candidate> chosen;
    const auto add = [&](const Candidate& candidate) {
      const TriedPipeline* const known = tried_.find(candidate);
      if (known != nullptr && known->right() && std::find(chosen.begin(), chosen.end(), candidate) == chosen.end())
        chosen.push_back(candidate);
    };
    for (const pipeline::Rung& rung : rungs_) add(rung.candidate);
    add(guess_);
    const std::size_t wanted = chosen.size() + options_.finalists;
    for (const TriedPipeline* const one : tried_.fastest_first()) {
      if (chosen.size() < wanted) add(one->candidate);
    }
    return chosen;
  }

  /// Contenders whose samples are of one kind, which take turns.
  struct Field {
    std::vector<Candidate> candidates;
    SampleTiming timing;
    RoundOrder order;
  };

  /// At the power cap those that may meet it have settled samples, one after the other, so that none begins at the
  /// clock that another pipeline earned; the rest leaves the GPU idle for too long to meet it.
  [[nodiscard]] std::vector<Field> fields() const {
    std::vector<Candidate> near, rest;
    for (const Candidate& candidate : contenders()) {
      const bool meets = answer_.slowdown && tried_.find(candidate)->time_s() <= kMayMeetCap * best_->time_s();
      (meets ? near : rest).push_back(candidate);
    }
    const std::uint64_t seed = order_seed(options_.seed, clock_.utc_iso8601() + " pipeline");
    std::vector<Field> fields;
    if (!near.empty()) fields.push_back({near, kSettledSample, {near.size(), seed}});
    if (!rest.empty()) fields.push_back({rest, {kRound_s, 0}, {rest.size(), seed}});
    return fields;
  }

  /// One round of a field; whether anybody has a sample.
  Result<bool> run_round(const Field& field, int round) {
    protocol::PipelineRound request;
    request.candidates = field.candidates;
    request.round = round + 1;
    request.sample_s = field.timing.sample_s;
    request.settle_s = field.timing.settle_s;
    for (const std::size_t index : field.order.order(round)) request.order.push_back(static_cast<int>(index));
    auto report = device_.round(request);
    if (!report) return tl::unexpected<Error>(report.error());
    bool any = false;
    for (std::size_t i = 0; i < field.candidates.size(); ++i) {
      TriedPipeline& tried = *tried_.find(field.candidates[i]);
      if (report->samples[i]) {
        any = true;
        store_.save_round_sample(field.candidates[i], *report->samples[i]);
        tried.rounds.push_back(*report->samples[i]);
      } else if (report->outcomes[i].kind != OutcomeKind::kNotRecorded) {
        tried.result.outcome = report->outcomes[i];
      }
    }
    return any;
  }

  Result<void> rounds() {
    const std::vector<Field> all = fields();
    if (all.empty() || stopped()) return {};
    for (int round = 0; round < options_.rounds && !stopped(); ++round) {
      tell(PipelineProgress::Phase::kRounds, round + 1, options_.rounds);
      bool any = false;
      for (const Field& field : all) {
        const auto measured = run_round(field, round);
        if (!measured) return tl::unexpected<Error>(measured.error());
        any = any || *measured;
      }
      if (!any) break;
      ++answer_.rounds;
    }
    best_ = tried_.fastest();
    return {};
  }

  /// Checks the winner again, after it was timed; whoever is wrong is out, and the next one is checked.
  Result<void> conclude() {
    bool checked = stopped();
    while (best_ != nullptr && !checked) {
      auto again = device_.trial({best_->candidate, 0, 0});
      if (!again) return tl::unexpected<Error>(again.error());
      checked = again->outcome.kind == OutcomeKind::kOk || again->outcome.kind == OutcomeKind::kNotRecorded;
      if (checked) break;
      answer_.notes.push_back(
          fmt::format("{} failed when it was checked again: {}", best_->candidate.text(), again->outcome.reason));
      tried_.find(best_->candidate)->result.outcome = again->outcome;
      store_.save_trial(best_->candidate, *again);
      best_ = tried_.fastest();
    }
    answer_.complete = !stopped() && best_ != nullptr && answer_.rounds >= options_.rounds;
    answer_.guess = tried_.measured(guess_);
    for (const pipeline::Rung& rung : rungs_)
      answer_.ladder.push_back({rung.name, rung.trap, tried_.measured(rung.candidate)});
    if (best_ == nullptr) return {};
    answer_.best = tried_.measured(best_->candidate);
    if (const MeasuredRung* const serial = answer_.serial())
      answer_.serial_to_best = tried_.ratio(serial->measured.candidate, *best_);
    answer_.guess_to_best = tried_.ratio(guess_, *best_);
    if (stopped()) return {};
    if (auto steps = device_.steps(best_->candidate)) {
      answer_.steps = *steps;
    } else {
      answer_.notes.push_back("its steps were not measured alone: " + steps.error().text());
    }
    if (auto timeline = device_.trace(best_->candidate)) {
      answer_.timeline = std::move(*timeline);
    } else {
      answer_.notes.push_back("there is no timeline: " + timeline.error().text());
    }
    return {};
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
  TriedPipelines tried_;
  const TriedPipeline* best_ = nullptr;
};

}  // namespace

Result<PipelineResult> run_pipeline_search(const pipeline::StreamedProblem& streamed, device::PipelineDevice& device,
                                           PipelineStore& store, const PipelineOptions& options,
                                           const std::atomic<bool>& stop, const PipelineProgressCallback& progress,
                                           const Clock& clock) {
  return Search(streamed, device, store, options, stop, progress, clock).run();
}

}  // namespace pgtune::session

// SPDX-License-Identifier: MIT
#include "tuner/session/pipeline/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <utility>

#include "tuner/search/expected_missed.hpp"
#include "tuner/session/pipeline/builds.hpp"
#include "tuner/session/pipeline/quarantine.hpp"

namespace pgtune::session {
namespace {

/// Builds waiting for the GPU, per build slot: enough that it never waits, few enough that a stop wastes little.
constexpr std::size_t kAheadPerSlot = 4;
/// How often the stop flag and the deadline are looked at while nothing finishes.
constexpr std::chrono::milliseconds kPoll{100};
/// Whatever the time budget: fewer say nothing of a space, and another one is worth more than the rounds of the best.
constexpr std::size_t kLeastTried = 8;
/// A build is waited for so long, where what was proposed after it is ready.
constexpr double kPatience_s = 2;

TrialReport failed(OutcomeKind kind, std::string reason) {
  TrialReport report;
  report.outcome = {kind, std::move(reason)};
  return report;
}

std::size_t planned_total(const SearchState& state, const Budget& budget) {
  if (!budget.trials) return state.size();
  return std::min(state.size(), static_cast<std::size_t>(std::max<std::int64_t>(*budget.trials, 0)));
}

std::optional<double> deadline(const SessionContext& context, double reserve_s) {
  const auto& seconds = context.options.budget.seconds;
  if (!seconds) return std::nullopt;
  return context.start_s + *seconds - reserve_s;
}

/// Recent durations count more once this many are in: the first ones include warming up.
constexpr std::size_t kMemory = 64;
constexpr std::size_t kEnough = 4;

void update_mean(double& mean_s, std::size_t& count, double duration_s) {
  ++count;
  mean_s += (duration_s - mean_s) / static_cast<double>(std::min(count, kMemory));
}

}  // namespace

void TimeEstimate::build_finished(double duration_s) { update_mean(build_mean_s_, builds_, duration_s); }
void TimeEstimate::trial_finished(double duration_s) { update_mean(trial_mean_s_, trials_, duration_s); }

std::optional<double> TimeEstimate::remaining_s(std::size_t builds_left, std::size_t trials_left) const {
  if ((builds_left > 0 && builds_ < kEnough) || trials_ < kEnough) return std::nullopt;
  const double compile_s =
      static_cast<double>(builds_left) * build_mean_s_ / static_cast<double>(std::max<std::size_t>(build_slots_, 1));
  return std::max(compile_s, static_cast<double>(trials_left) * trial_mean_s_);
}

Pipeline::Pipeline(const SessionContext& context, SearchState& state, search::Strategy& strategy,
                   ProgressReporter& progress)
    : context_(context),
      state_(state),
      strategy_(strategy),
      progress_(progress),
      slots_(std::max<std::size_t>(context.device.build_slots(), 1)),
      total_(planned_total(state, context.options.budget)),
      estimate_(slots_) {}

Result<void> Pipeline::build_ahead() {
  if (stopped()) return {};
  if (auto taken = take_events(std::chrono::milliseconds(0)); !taken) return taken;
  propose();
  return {};
}

Result<Screened> Pipeline::run(const AfterSearch& after, double margin) {
  after_ = after;
  if (const auto& acceptable = context_.options.budget.acceptable_miss)
    acceptable_miss_ = std::max(*acceptable, margin);
  begun_s_ = context_.clock.now_s();
  deadline_s_ = deadline(context_, after.reserve_s);
  progress_.enter_search(state_, total_);
  TRY_ASSIGN(const auto end, try_all());
  return Screened{end, state_.screen_time_s(), strategy_.expected_miss()};
}

Result<Screened::End> Pipeline::try_all() {
  using End = Screened::End;
  while (true) {
    const bool halted = stopped() || out_of_time() || has_enough();
    const std::size_t decided = state_.decided_count();
    if (!halted) {
      submit_trial();  // first: the GPU works while the strategy ranks what may be next
      propose();
    }
    if (stopped() && !trial_) return End::kInterrupted;
    if (!in_flight()) {
      // What was decided without building or running it may let the strategy propose more.
      if (!halted && state_.decided_count() > decided) continue;
      break;
    }
    TRY(take_events(kPoll));
    report_progress();
  }
  if (stopped()) return End::kInterrupted;
  if (has_enough() && state_.decided_count() < state_.size()) return End::kEnough;
  const bool unfinished =
      !ready_.empty() || trial_budget_spent_ || (out_of_time() && state_.decided_count() < state_.size());
  return unfinished ? End::kBudget : End::kExhausted;
}

/// Where nothing is right there is nothing of worth for a race or a final, whose share of the budget then belongs to
/// the search.
bool Pipeline::out_of_time() const {
  if (!deadline_s_ || state_.decided_count() < std::min(kLeastTried, state_.size())) return false;
  const double end_s = state_.best_s() > 0 ? *deadline_s_ : *deadline_s_ + std::max(after_.reserve_s, 0.0);
  return context_.clock.now_s() >= end_s;
}

bool Pipeline::has_enough() const {
  return acceptable_miss_ && search::is_enough(strategy_.expected_miss(), *acceptable_miss_, reported_);
}

bool Pipeline::in_flight() const { return trial_ || !building_.empty(); }

Result<void> Pipeline::take_events(std::chrono::milliseconds timeout) {
  TRY_ASSIGN(auto events, context_.device.wait(timeout));
  for (protocol::Event& event : events) {
    std::visit([this](auto& done) { handle(std::move(done)); }, event);
  }
  return {};
}

void Pipeline::propose() {
  while (building_.size() < slots_ && building_.size() + ready_.size() < kAheadPerSlot * slots_) {
    const auto index = next_unknown();
    if (!index) return;
    submit_build(*index);
  }
}

/// Variants already known count as proposed, so that a resumed search with a trial budget ends where the uninterrupted
/// one would have ended.
std::optional<std::size_t> Pipeline::next_unknown() {
  while (!trial_budget_spent_) {
    const auto index = strategy_.next();
    if (!index) return std::nullopt;
    if (context_.options.budget.trials && proposed_ == *context_.options.budget.trials) {
      trial_budget_spent_ = true;
      return std::nullopt;
    }
    ++proposed_;
    if (!state_.decided(*index)) return index;
    tell_strategy(*index);
  }
  return std::nullopt;
}

void Pipeline::tell_strategy(std::size_t index) {
  ++reported_;
  strategy_.report(index, state_.observation(index));
}

void Pipeline::submit_build(std::size_t index) {
  const Variant& variant = state_.variant(index);
  auto plan = make_plan(context_, variant);
  if (!plan) return decide(index, {}, failed(OutcomeKind::kInvalid, plan.error().text()));
  auto request = make_build_request(context_, variant);
  if (!request) return decide(index, {}, failed(OutcomeKind::kInvalid, request.error().text()));
  if (context_.quarantine != nullptr) {
    if (const auto known =
            context_.quarantine->of_build(context_.templates.of(variant), context_.device.info(), *request))
      return decide(index, {}, failed(known->kind, known->reason));
  }
  building_.emplace(request->id, Candidate{index, submitted_++, std::move(*plan), {}, context_.clock.now_s()});
  context_.device.submit_build(std::move(*request));
}

void Pipeline::submit_trial() {
  drop_quarantined();
  if (trial_ || ready_.empty() || waits_for_an_earlier_build()) return;
  trial_ = std::move(ready_.extract(ready_.begin()).mapped());
  trial_->submitted_s = context_.clock.now_s();
  trial_id_ = next_request_id();
  const double incumbent_s = context_.options.full ? 0 : state_.best_s();
  context_.device.submit_trial({trial_id_, {state_.variant(trial_->index), trial_->plan, trial_->build}, incumbent_s});
}

/// What compiles fastest is not what is expected to run fastest: variants are tried in the order of their proposals.
bool Pipeline::waits_for_an_earlier_build() const {
  const double patient_since_s = context_.clock.now_s() - kPatience_s;
  return std::any_of(building_.begin(), building_.end(), [&](const auto& entry) {
    return entry.second.order < ready_.begin()->first && entry.second.submitted_s > patient_since_s;
  });
}

/// Looks at the next build only when the GPU is free: a trial of this search may have crashed the same machine code.
void Pipeline::drop_quarantined() {
  while (context_.quarantine != nullptr && !trial_ && !ready_.empty()) {
    const auto known = context_.quarantine->of_run(ready_.begin()->second.build);
    if (!known) return;
    Candidate candidate = std::move(ready_.extract(ready_.begin()).mapped());
    decide(candidate.index, std::move(candidate.build), failed(known->kind, known->reason));
  }
}

void Pipeline::handle(protocol::BuildDone done) {
  const auto found = building_.find(done.id);
  if (found == building_.end()) return;  // left over from an interrupted search on this device
  Candidate candidate = std::move(found->second);
  building_.erase(found);
  // The end of a build of build_ahead() was not observed.
  if (begun_s_ && candidate.submitted_s >= *begun_s_)
    estimate_.build_finished(context_.clock.now_s() - candidate.submitted_s);
  if (done.outcome.kind != OutcomeKind::kOk) {
    return decide(candidate.index, {}, failed(done.outcome.kind, done.outcome.reason));
  }
  candidate.build = std::move(done.build);
  if (const auto reason = why_not_launchable(candidate.build, candidate.plan, context_.device.info())) {
    return decide(candidate.index, std::move(candidate.build), failed(OutcomeKind::kInvalid, *reason));
  }
  const std::size_t order = candidate.order;
  ready_.emplace(order, std::move(candidate));
}

void Pipeline::handle(protocol::TrialDone done) {
  if (!trial_ || done.id != trial_id_) return;
  estimate_.trial_finished(context_.clock.now_s() - trial_->submitted_s);
  Candidate candidate = std::move(*trial_);
  trial_.reset();
  decide(candidate.index, std::move(candidate.build), std::move(done.report));
}

void Pipeline::decide(std::size_t index, BuildInfo build, TrialReport report) {
  if (context_.quarantine != nullptr)
    context_.quarantine->note(context_.problem, state_.variant(index), build, report.outcome);
  context_.store.save_trial(state_.variant(index), build, report);
  state_.record(index, std::move(build), std::move(report));
  tell_strategy(index);
}

void Pipeline::report_progress() {
  const std::size_t left = undecided();
  std::optional<double> remaining_s;  // unknown where the search ends by itself
  if (!acceptable_miss_ || !strategy_.judges())
    remaining_s = estimate_.remaining_s(left - std::min(left, ready_.size()), left);
  if (deadline_s_) {
    const double until_deadline_s = std::max(0.0, *deadline_s_ - context_.clock.now_s());
    remaining_s = std::min(remaining_s.value_or(until_deadline_s), until_deadline_s);
  }
  if (remaining_s) *remaining_s += after_.expected_s;
  progress_.search(state_, remaining_s);
}

std::size_t Pipeline::undecided() const { return total_ - std::min(total_, state_.decided_count()); }

}  // namespace pgtune::session

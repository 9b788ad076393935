// SPDX-License-Identifier: MIT
#include "tuner/session/pipeline/split_screen.hpp"

#include <algorithm>
#include <chrono>

namespace pgtune::session {
namespace {

/// How soon a signal is noticed while nothing else happens.
constexpr std::chrono::milliseconds kLook{50};

/// Also what a broken GPU does to any variant.
bool may_be_the_board(OutcomeKind kind) {
  return kind == OutcomeKind::kCrashed || kind == OutcomeKind::kTimeout || kind == OutcomeKind::kLaunchFailed;
}

}  // namespace

SplitScreen::Share::Share(SplitScreen& screen, double baseline_s, bool leads) : screen_(screen), leads_(leads) {
  const std::lock_guard lock(screen.mutex_);
  scale_ = baseline_s > 0 && screen.baseline_s_ > 0 ? screen.baseline_s_ / baseline_s : 1;
  if (leads) return;
  ++screen.helpers_;
  ++screen.help_.boards;
}

SplitScreen::Share::~Share() {
  const std::lock_guard lock(screen_.mutex_);
  screen_.returned_.insert(screen_.returned_.end(), open_.begin(), open_.end());
  screen_.open_ -= open_.size();
  if (!leads_) --screen_.helpers_;
  screen_.changed_.notify_all();
}

std::optional<std::size_t> SplitScreen::Share::next() {
  const std::lock_guard lock(screen_.mutex_);
  const auto index = screen_.propose(leads_);
  if (!index) return std::nullopt;
  open_.insert(*index);
  ++screen_.open_;
  return index;
}

void SplitScreen::Share::report(std::size_t index, const search::Observation& observation) {
  const std::lock_guard lock(screen_.mutex_);
  open_.erase(index);
  --screen_.open_;
  if (!leads_ && may_be_the_board(observation.outcome)) {
    screen_.for_leader_.push_back(index);
    return;
  }
  search::Observation at_leaders_speed = observation;
  at_leaders_speed.time_s *= scale_;
  if (screen_.strategy_ == nullptr) return;
  screen_.strategy_->report(index, at_leaders_speed);
  if (leads_) return;
  ++screen_.help_.screened;
  if (observation.outcome == OutcomeKind::kOk && !observation.cut)
    screen_.help_.found.push_back({index, at_leaders_speed.time_s});
}

bool SplitScreen::Share::waits() const {
  const std::lock_guard lock(screen_.mutex_);
  return screen_.state_ == State::kOpen &&
         (screen_.open_ > open_.size() || !screen_.returned_.empty() || (leads_ && !screen_.for_leader_.empty()));
}

std::optional<search::ExpectedMiss> SplitScreen::Share::expected_miss() const {
  const std::lock_guard lock(screen_.mutex_);
  return screen_.strategy_ != nullptr ? screen_.strategy_->expected_miss() : std::nullopt;
}

bool SplitScreen::Share::judges() const {
  const std::lock_guard lock(screen_.mutex_);
  return screen_.strategy_ != nullptr && screen_.strategy_->judges();
}

std::optional<std::size_t> SplitScreen::propose(bool to_leader) {
  if (state_ != State::kOpen) return std::nullopt;
  for (auto* const again : {&returned_, &for_leader_}) {
    if (again->empty() || (again == &for_leader_ && !to_leader)) continue;
    const std::size_t index = again->back();
    again->pop_back();
    return index;
  }
  if (budget_spent_) return std::nullopt;
  const auto index = strategy_->next();
  if (!index) return std::nullopt;
  if (trials_ && proposed_ == *trials_) {
    budget_spent_ = true;
    return std::nullopt;
  }
  ++proposed_;
  return index;
}

void SplitScreen::open(search::Strategy& strategy, double baseline_s, std::optional<std::int64_t> trials) {
  const std::lock_guard lock(mutex_);
  strategy_ = &strategy;
  baseline_s_ = baseline_s;
  trials_ = trials;
  state_ = State::kOpen;
  changed_.notify_all();
}

bool SplitScreen::budget_spent() const {
  const std::lock_guard lock(mutex_);
  return budget_spent_;
}

SplitScreen::Help SplitScreen::close(const std::function<bool()>& give_up) {
  std::unique_lock lock(mutex_);
  state_ = State::kClosed;
  changed_.notify_all();
  while (helpers_ > 0 && !give_up()) changed_.wait_for(lock, kLook);
  strategy_ = nullptr;
  Help help = help_;
  std::stable_sort(help.found.begin(), help.found.end(),
                   [](const Found& a, const Found& b) { return a.time_s < b.time_s; });
  return help;
}

bool SplitScreen::is_closed() const {
  const std::lock_guard lock(mutex_);
  return state_ == State::kClosed;
}

bool SplitScreen::await(const std::function<bool()>& give_up) {
  std::unique_lock lock(mutex_);
  while (state_ == State::kExpected && !give_up()) changed_.wait_for(lock, kLook);
  return state_ == State::kOpen;
}

}  // namespace pgtune::session

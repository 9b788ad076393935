// SPDX-License-Identifier: MIT
#include "tuner/session/split_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tuner/session/pipeline/pipeline.hpp"
#include "tuner/session/pipeline/split_screen.hpp"
#include "tuner/session/rounds/race_cut.hpp"
#include "tuner/session/stages.hpp"
#include "tuner/session/time_estimate.hpp"

namespace pgtune::session {
namespace {

/// Of one variant that is built already: check and screening samples.
constexpr double kScreenedAgain_s = 0.1;
/// What screening again may take of a time budget.
constexpr double kMostOfBudget = 0.2;

/// These, one after the other.
class ListedStrategy final : public search::Strategy {
 public:
  explicit ListedStrategy(std::vector<std::size_t> list) : list_(std::move(list)) {}

  [[nodiscard]] std::optional<std::size_t> next() override {
    if (next_ == list_.size()) return std::nullopt;
    return list_[next_++];
  }
  void report(std::size_t, const search::Observation&) override {}

 private:
  std::vector<std::size_t> list_;
  std::size_t next_ = 0;
};

/// Ends the screening on every way out of the leader's stage: helpers wait for it.
class Opened {
 public:
  Opened(SplitScreen& screen, const std::atomic<bool>& stop) : screen_(screen), stop_(stop) {}
  ~Opened() { (void)close(); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  [[nodiscard]] SplitScreen::Help close() {
    return screen_.close([this] { return stop_.load(); });
  }

 private:
  SplitScreen& screen_;
  const std::atomic<bool>& stop_;
};

/// Who of the helpers' would enter a race here, fastest first.
std::vector<std::size_t> worth_a_look(const SplitScreen::Help& help, const SearchState& state) {
  double best_s = state.best_s();
  for (const SplitScreen::Found& found : help.found)
    best_s = best_s > 0 ? std::min(best_s, found.time_s) : found.time_s;
  std::vector<std::size_t> out;
  for (const SplitScreen::Found& found : help.found) {
    if (found.time_s <= best_s * (1 + kMostEntryMargin) && !state.decided(found.index)) out.push_back(found.index);
  }
  out.resize(std::min(out.size(), kMostEntrants));
  return out;
}

Result<void> screen_again(SessionRun& run, const std::vector<std::size_t>& variants, double reserve_s) {
  ListedStrategy strategy(variants);
  const auto end = Pipeline(run.context, run.state, strategy, run.progress).run(reserve_s);
  if (!end) return tl::unexpected(end.error());
  run.answer.stages.screen_s = run.state.screen_time_s();
  run.result.interrupted = *end == Pipeline::End::kInterrupted;
  return {};
}

std::string help_note(const SplitScreen::Help& help, std::size_t again) {
  return fmt::format(
      "{} more variants were screened on {} other {} of this class; the {} that came near were screened "
      "here again",
      help.screened, help.boards, help.boards == 1 ? "GPU" : "GPUs", again);
}

}  // namespace

Result<void> split_screening_stage(SessionRun& run, search::Strategy& strategy, double reserve_s) {
  const SessionContext& context = run.context;
  SplitScreen& split = *context.split;
  const double baseline_s = baseline_launch_s(run.result.baseline);
  const double again_s = std::min(kScreenedAgain_s * static_cast<double>(kMostEntrants),
                                  context.options.budget.seconds.value_or(0) * kMostOfBudget);
  Opened opened(split, context.stop);
  split.open(strategy, baseline_s, context.options.budget.trials);
  {
    SplitScreen::Share share(split, baseline_s, true);
    Pipeline pipeline(context, run.state, share, run.progress);
    if (auto screened = screening_stage(run, pipeline, reserve_s + again_s); !screened) return screened;
  }
  if (split.budget_spent()) {
    run.exhausted = false;
    run.result.budget_reached = true;
  }
  const SplitScreen::Help help = opened.close();
  if (help.boards == 0 || run.ended()) return {};
  const std::vector<std::size_t> again = worth_a_look(help, run.state);
  run.evidence.add_notes({help_note(help, again.size())});
  return screen_again(run, again, reserve_s);
}

Result<void> helping_stage(SessionRun& run) {
  const SessionContext& context = run.context;
  if (!context.split->await([&] { return context.stop.load(); })) return {};
  SplitScreen::Share share(*context.split, baseline_launch_s(run.result.baseline), false);
  Pipeline pipeline(context, run.state, share, run.progress);
  return screening_stage(run, pipeline, 0);
}

}  // namespace pgtune::session

// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/terminal/live_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/operation/gemm_operation.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

using session::Progress;

/// What of a progress is shown.
struct Parts {
  bool failures = true, speed = true, time = true, remaining = true, shape = true, best = true;
};

/// "; best so far 2.712 ms, 50.68 TFLOP/s, 1.021x cuBLASLt"
std::string best_text(const Progress& progress, const Parts& parts) {
  if (progress.best_s <= 0 || !parts.best) return {};
  const Problem& problem = progress.problem;
  const bool ratio = progress.baseline_best_s > 0;
  std::vector<std::string> facts;
  if (parts.time || !ratio) facts.push_back(fmt::format("{} ms", milliseconds_text(progress.best_s)));
  if (parts.speed) facts.push_back(fmt::format("{} {}", speed_text(problem, progress.best_s), problem.speed_unit()));
  if (ratio) facts.push_back(fmt::format("{:.3f}x {}", progress.baseline_best_s / progress.best_s, progress.baseline));
  return fmt::format("; best so far {}", fmt::join(facts, ", "));
}

/// "; 19s left", of a second at least.
std::string left_text(double remaining_s) {
  return fmt::format("; {} left", duration_text(std::max(remaining_s, 1.0)));
}

std::string work_text(const Progress& progress, const Parts& parts) {
  switch (progress.phase) {
    case Progress::Phase::kPrepare:
      return fmt::format("preparing data and {}",
                         operation::gemm_baseline(progress.problem) != nullptr ? "cuBLASLt" : "baseline");
    case Progress::Phase::kCeilings:
      return "the GPU's own ceilings, once for this database";
    case Progress::Phase::kSteady:
      return "the baseline's steady run";
    case Progress::Phase::kFloor:
      return fmt::format("noise floor, round {} of {}", progress.round, progress.rounds);
    case Progress::Phase::kExpectation:
      return "computing which variants are expected to be fastest";
    case Progress::Phase::kRace:
      if (progress.settled_rounds_s > 0)
        return fmt::format("race in settled samples, pass {} of {}, {} variants",
                           std::min(progress.round + 1, progress.rounds), progress.rounds, progress.contenders);
      return fmt::format("race, round {} of at most {}, {} variants", progress.round, progress.rounds,
                         progress.contenders);
    case Progress::Phase::kEnergy:
      return fmt::format("energy, window {} of {}", progress.round, progress.rounds);
    case Progress::Phase::kFinal:
      return fmt::format("final{}, round {} of {}", progress.settled_rounds_s > 0 ? " in settled samples" : "",
                         progress.round, progress.rounds);
    case Progress::Phase::kConfirm:
      return fmt::format("measuring the winner again, round {} of {}", progress.round, progress.rounds);
    case Progress::Phase::kVerification:
      return fmt::format("verifying the finalists, {} of at most {}", progress.round, progress.rounds);
    case Progress::Phase::kSearch:
    case Progress::Phase::kDone:
      break;
  }
  std::string text = fmt::format("trying variants, {} of {}", count_text(progress.done), count_text(progress.total));
  if (progress.failed > 0 && parts.failures) text += fmt::format(", {} failed", count_text(progress.failed));
  return text;
}

std::string shown_text(const Progress& progress, const Parts& parts) {
  std::string text = progress.part.empty() ? "" : progress.part + ", ";
  if (parts.shape) text += progress.problem.shape() + ": ";
  text += work_text(progress, parts) + best_text(progress, parts);
  if (progress.remaining_s && parts.remaining) text += left_text(*progress.remaining_s);
  return text;
}

}  // namespace

std::string progress_text(const Progress& progress, const std::string& before, std::size_t width) {
  Parts parts;
  std::vector<bool*> in_turn{&parts.failures, &parts.speed, &parts.time};
  if (!before.empty()) in_turn.insert(in_turn.end(), {&parts.remaining, &parts.best});
  in_turn.push_back(&parts.shape);
  std::string text = before + shown_text(progress, parts);
  for (bool* const part : in_turn) {
    if (text.size() <= width) break;
    *part = false;
    text = before + shown_text(progress, parts);
  }
  return elided(text, width);
}

std::string settled_text(const Progress& progress) {
  return fmt::format(
      "{} meets the power cap: race, final and confirm rounds wait before each sample until the clock stands still, "
      "and take about {}",
      progress.problem.shape(), duration_text(progress.settled_rounds_s));
}

std::string elided(const std::string& text, std::size_t width) {
  constexpr std::string_view kDots = "...";
  if (text.size() <= width) return text;
  if (width <= kDots.size()) return text.substr(0, width);
  const std::size_t kept = width - kDots.size();
  const std::size_t head = kept / 2;
  return text.substr(0, head) + std::string(kDots) + text.substr(text.size() - (kept - head));
}

void LiveLine::update(const Progress& progress) {
  if (terminal_.verbosity() == Verbosity::kQuiet || progress.phase == Progress::Phase::kDone) return;
  if (progress.settled_rounds_s > 0 && !told_settled_) {
    told_settled_ = true;
    note(settled_text(progress));
  }
  if (terminal_.error_is_terminal()) {
    redraw(progress);
  } else {
    print_sparse(progress);
  }
}

void LiveLine::redraw(const Progress& progress) {
  const auto now = Clock::now();
  if (drawn_ && now - last_ < kRedrawInterval) return;
  last_ = now;
  drawn_ = true;
  // The last column stays free: filling it makes some terminals wrap.
  terminal_.show_live({progress_text(progress, before_, terminal_.error_width() - 1)});
}

void LiveLine::print_sparse(const Progress& progress) {
  const auto now = Clock::now();
  if (now - last_ < kSparseInterval) return;
  last_ = now;
  note(progress_text(progress, before_));
}

void LiveLine::note(const std::string& text) {
  const char* indent = "";
  for (const std::string& line : wrap_text(text, std::min(kTextWidth, terminal_.error_width()) - 2)) {
    terminal_.note(indent + line);
    indent = "  ";
  }
}

void LiveLine::clear() {
  terminal_.hide_live();
  drawn_ = told_settled_ = false;
}

class FleetView::Line final : public ProgressView {
 public:
  Line(FleetView& view, std::size_t device) : view_(view), device_(device) {}

  void update(const session::Progress& progress) override {
    if (progress.phase == session::Progress::Phase::kDone) return;
    const std::size_t room = view_.terminal_.error_width() - view_.names_[device_].size() - 3;
    view_.set(device_, progress_text(progress, {}, room));
  }
  void clear() override { view_.set(device_, {}); }

 private:
  FleetView& view_;
  std::size_t device_;
};

std::string totals_text(const FleetTotals& totals) {
  std::string text = fmt::format("{} of {} problems done on {} {}", totals.over, totals.problems, totals.devices,
                                 totals.devices == 1 ? "GPU" : "GPUs");
  if (totals.remaining_s && totals.over < totals.problems) text += left_text(*totals.remaining_s);
  return text;
}

FleetView::FleetView(Terminal& terminal, std::vector<std::string> devices)
    : terminal_(terminal), names_(std::move(devices)), texts_(names_.size()), last_(Clock::now()) {
  std::size_t width = 0;
  for (const std::string& name : names_) width = std::max(width, name.size());
  for (std::string& name : names_) name.resize(width, ' ');
  for (std::size_t i = 0; i < names_.size(); ++i) lines_.push_back(std::make_unique<Line>(*this, i));
}

FleetView::~FleetView() { terminal_.hide_live(); }

ProgressView& FleetView::line(std::size_t device) { return *lines_.at(device); }

void FleetView::say(std::size_t device, const std::string& text) { set(device, text); }

void FleetView::set(std::size_t device, std::string text) {
  const std::lock_guard lock(mutex_);
  texts_[device] = std::move(text);
  show();
}

void FleetView::set_totals(const FleetTotals& totals) {
  const std::lock_guard lock(mutex_);
  totals_ = totals;
  show();
}

void FleetView::over(std::size_t device, const std::string& problem, double elapsed_s) {
  const std::lock_guard lock(mutex_);
  if (terminal_.error_is_terminal()) return;  // the totals show it
  terminal_.note(fmt::format("{}  {} is over after {}", names_[device], problem, duration_text(elapsed_s)));
}

void FleetView::show() {
  if (terminal_.verbosity() == Verbosity::kQuiet) return;
  const bool live = terminal_.error_is_terminal();
  const auto now = Clock::now();
  if (now - last_ < (live ? Clock::duration(kRedrawInterval) : Clock::duration(kSparseInterval))) return;
  last_ = now;
  if (!live) return terminal_.note(totals_text(totals_));
  // Only the first devices if the terminal has fewer lines; the last column stays free.
  const std::size_t most = std::max<std::size_t>(terminal_.error_height(), 3) - 2;
  const std::size_t width = terminal_.error_width() - 1;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(names_.size(), most); ++i)
    lines.push_back(elided(fmt::format("{}  {}", names_[i], texts_[i]), width));
  lines.push_back(elided(totals_text(totals_), width));
  terminal_.show_live(lines);
}

void PhaseLine::update(int phase, const std::string& text) {
  if (terminal_.verbosity() == Verbosity::kQuiet) return;
  if (terminal_.error_is_terminal()) {
    terminal_.show_live({elided(text, terminal_.error_width() - 1)});
  } else if (phase != phase_) {
    terminal_.note(text);
  }
  phase_ = phase;
}

}  // namespace pgtune::tool

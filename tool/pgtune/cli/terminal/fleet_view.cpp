// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/terminal/fleet_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tool/pgtune/cli/terminal/live_line.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"

namespace pgtune::tool {
class FleetView::Line final : public ProgressView {
 public:
  Line(FleetView& view, std::size_t device) : view_(view), device_(device) {}

  void update(const session::Progress& progress) override {
    if (progress.phase != session::Progress::Phase::kDone) view_.set(device_, progress_text(progress));
  }
  void clear() override { view_.set(device_, {}); }

 private:
  FleetView& view_;
  std::size_t device_;
};

std::string totals_text(const FleetTotals& totals) {
  std::string text = fmt::format("{} of {} problems done on {} {}", totals.over, totals.problems, totals.devices,
                                 totals.devices == 1 ? "GPU" : "GPUs");
  if (totals.remaining_s && totals.over < totals.problems)
    text += fmt::format("; {} left", duration_text(*totals.remaining_s));
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
  // Of more devices than the terminal has lines, the first; the last column stays free.
  const std::size_t most = std::max<std::size_t>(terminal_.error_height(), 3) - 2;
  const std::size_t width = terminal_.error_width() - 1;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(names_.size(), most); ++i)
    lines.push_back(elided(fmt::format("{}  {}", names_[i], texts_[i]), width));
  lines.push_back(elided(totals_text(totals_), width));
  terminal_.show_live(lines);
}

}  // namespace pgtune::tool

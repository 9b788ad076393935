// SPDX-License-Identifier: MIT
// Progress of several devices at work side by side: a line for each and one for all on a terminal, redrawn in place;
// elsewhere a line for each problem that is over, and one now and then that says how far the whole is.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/progress_view.hpp"
#include "tool/pgtune/cli/terminal/terminal.hpp"

namespace pgtune::tool {

/// How far the whole is.
struct FleetTotals {
  std::size_t problems = 0, over = 0, devices = 0;
  std::optional<double> remaining_s;
};

/// E.g. "5 of 24 problems done on 4 GPUs; 12m left".
[[nodiscard]] std::string totals_text(const FleetTotals& totals);

/// Thread-safe. Shows nothing with --quiet.
class FleetView {
 public:
  /// `devices`: what each is called, "GPU 0". `terminal` must outlive the view.
  FleetView(Terminal& terminal, std::vector<std::string> devices);
  FleetView(const FleetView&) = delete;
  FleetView& operator=(const FleetView&) = delete;
  ~FleetView();

  /// The line of one device, for the thread that works with it.
  [[nodiscard]] ProgressView& line(std::size_t device);
  /// What a device's line says while it has no problem.
  void say(std::size_t device, const std::string& text);
  void set_totals(const FleetTotals& totals);
  /// A problem is over.
  void over(std::size_t device, const std::string& problem, double elapsed_s);

 private:
  class Line;
  using Clock = std::chrono::steady_clock;

  void set(std::size_t device, std::string text);
  void show();

  Terminal& terminal_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::mutex mutex_;  ///< of what follows
  std::vector<std::string> texts_;
  FleetTotals totals_;
  Clock::time_point last_{};
};

}  // namespace pgtune::tool

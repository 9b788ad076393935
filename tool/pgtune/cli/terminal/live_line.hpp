// SPDX-License-Identifier: MIT
// Progress of a search on standard error: one line redrawn in place on a terminal, sparse plain lines elsewhere.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tuner/session/search_session.hpp"

namespace pgtune::tool {

// Shows the progress of one device's work.

/// The interval of redrawing a line on a terminal, and the longest interval between lines in a file.
inline constexpr std::chrono::milliseconds kRedrawInterval{200};
inline constexpr std::chrono::seconds kSparseInterval{10};

class ProgressView {
 public:
  virtual ~ProgressView() = default;

  virtual void update(const session::Progress& progress) = 0;
  /// The problem is over: removes its line.
  virtual void clear() = 0;
};

/// E.g. "4096x4096x4096: trying variants, 120 of 3,400, 3 failed; best so far 2.712 ms, 50.68 TFLOP/s, 1.021x cuBLASLt;
/// 1m20s left" after `before`. Of a text wider than `width` parts are left out, the least important first: failures,
/// speed, time, then for one problem its shape and in a list (which `before` tells) its own time left and its best.
[[nodiscard]] std::string progress_text(const session::Progress& progress, const std::string& before = {},
                                        std::size_t width = std::string::npos);

/// Reports that a problem reaches the power cap, and the duration of its race and final. Precondition: settled_rounds_s
/// > 0.
[[nodiscard]] std::string settled_text(const session::Progress& progress);

/// `text` in at most `width` columns; "..." replaces the middle of a longer one, which has no parts to leave out.
[[nodiscard]] std::string elided(const std::string& text, std::size_t width);

class LiveLine final : public ProgressView {
 public:
  /// Shows nothing with --quiet. `terminal` must outlive the line.
  explicit LiveLine(Terminal& terminal) : terminal_(terminal) {}
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;
  ~LiveLine() override { LiveLine::clear(); }

  /// Text before the progress of each problem: "3 of 46, 12m00s left; ".
  void set_before(std::string text) { before_ = std::move(text); }
  /// Draws at most five times a second on a terminal; elsewhere prints a line every ten seconds. On both, prints
  /// settled_text() once, as separate lines.
  void update(const session::Progress& progress) override;
  void clear() override;

 private:
  using Clock = std::chrono::steady_clock;
  void redraw(const session::Progress& progress);
  void print_sparse(const session::Progress& progress);
  void note(const std::string& text);

  Terminal& terminal_;
  std::string before_;
  bool drawn_ = false, told_settled_ = false;
  Clock::time_point last_{};
};

// Progress of several devices that work in parallel. On a terminal one line for each and one for all, redrawn in place;
// elsewhere a line for each finished problem, and an occasional line for the whole.

/// The progress of the whole.
struct FleetTotals {
  std::size_t problems = 0, over = 0, devices = 0;
  std::optional<double> remaining_s;
};

/// E.g. "5 of 24 problems done on 4 GPUs; 12m left".
[[nodiscard]] std::string totals_text(const FleetTotals& totals);

/// Thread-safe. Shows nothing with --quiet.
class FleetView {
 public:
  /// `devices`: the name of each, "GPU 0". `terminal` must outlive the view.
  FleetView(Terminal& terminal, std::vector<std::string> devices);
  FleetView(const FleetView&) = delete;
  FleetView& operator=(const FleetView&) = delete;
  ~FleetView();

  /// The line of one device, for its thread.
  [[nodiscard]] ProgressView& line(std::size_t device);
  /// The text of a device's line while it has no problem.
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

// Shows the current phase of long work on standard error.

/// On a terminal a live line, removed with this object; else a line for each phase. Prints nothing if the terminal is
/// quiet.
class PhaseLine {
 public:
  explicit PhaseLine(Terminal& terminal) : terminal_(terminal) {}
  ~PhaseLine() { terminal_.hide_live(); }
  PhaseLine(const PhaseLine&) = delete;
  PhaseLine& operator=(const PhaseLine&) = delete;

  /// `phase`: a number that identifies the phase.
  void update(int phase, const std::string& text);

 private:
  Terminal& terminal_;
  std::optional<int> phase_;
};

}  // namespace pgtune::tool

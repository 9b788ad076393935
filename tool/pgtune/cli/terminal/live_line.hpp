// SPDX-License-Identifier: MIT
// Progress of a search on standard error: one line redrawn in place on a terminal, sparse plain lines elsewhere.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tuner/session/search_session.hpp"

namespace pgtune::tool {

// Where the progress of one device's work is shown.

/// How often a line on a terminal is redrawn, and how long a file may stay without one.
inline constexpr std::chrono::milliseconds kRedrawInterval{200};
inline constexpr std::chrono::seconds kSparseInterval{30};

class ProgressView {
 public:
  virtual ~ProgressView() = default;

  virtual void update(const session::Progress& progress) = 0;
  /// The problem is over: takes away what is shown of it.
  virtual void clear() = 0;
};

/// E.g. "4096x4096x4096: 120/3400 done, 3 failed, 40 cut; best so far 2.712 ms, 50.68 TFLOP/s, 1.021x cuBLASLt; 1m20s
/// left".
[[nodiscard]] std::string progress_text(const session::Progress& progress);

/// The best so far as a line that stays: what a user who waits can take, and that it is not the answer. Precondition:
/// best_s > 0.
[[nodiscard]] std::string interim_text(const session::Progress& progress);

/// That a problem meets the power cap, and how long its race and final will take. Precondition: settled_rounds_s > 0.
[[nodiscard]] std::string settled_text(const session::Progress& progress);

/// `text` in at most `width` columns, its middle replaced by "..." where it is longer.
[[nodiscard]] std::string elided(const std::string& text, std::size_t width);

class LiveLine final : public ProgressView {
 public:
  /// Shows nothing with --quiet. `terminal` must outlive the line.
  explicit LiveLine(Terminal& terminal) : terminal_(terminal) {}
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;
  ~LiveLine() override { LiveLine::clear(); }

  /// Draws at most five times a second on a terminal; elsewhere prints a line at each tenth of the work or 30 seconds.
  /// On both, settled_text() and, of a search of more than five seconds, interim_text() once, as lines of their own.
  void update(const session::Progress& progress) override;
  void clear() override;

 private:
  using Clock = std::chrono::steady_clock;
  void redraw(const session::Progress& progress);
  void print_sparse(const session::Progress& progress);
  void note(const std::string& text);

  Terminal& terminal_;
  bool drawn_ = false, told_settled_ = false, told_interim_ = false;
  Clock::time_point last_{};
  session::Progress::Phase phase_ = session::Progress::Phase::kDone;
  std::int64_t last_tenth_ = -1;
};

// Progress of several devices at work side by side: a line for each and one for all on a terminal, redrawn in place;
// elsewhere a line for each problem that is over, and one now and then that says how far the whole is.

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

// What long work does at the moment, on standard error.

/// On a terminal a live line, which goes away with this object; else a line for each phase. Nothing where the terminal
/// is quiet.
class PhaseLine {
 public:
  explicit PhaseLine(Terminal& terminal) : terminal_(terminal) {}
  ~PhaseLine() { terminal_.hide_live(); }
  PhaseLine(const PhaseLine&) = delete;
  PhaseLine& operator=(const PhaseLine&) = delete;

  /// `phase`: a number that phases differ in.
  void update(int phase, const std::string& text);

 private:
  Terminal& terminal_;
  std::optional<int> phase_;
};

}  // namespace pgtune::tool

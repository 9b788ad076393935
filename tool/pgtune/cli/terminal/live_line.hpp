// SPDX-License-Identifier: MIT
// Progress of a search on standard error: one line redrawn in place on a terminal, sparse plain lines elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "tool/pgtune/cli/terminal/progress_view.hpp"
#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tuner/session/search_session.hpp"

namespace pgtune::tool {

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

}  // namespace pgtune::tool

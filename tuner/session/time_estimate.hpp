// SPDX-License-Identifier: MIT
// How long the rest of a search takes: builds and trials run side by side, so the slower of the two decides.
#pragma once

#include <cstddef>
#include <optional>

#include "tuner/session/search_session.hpp"

namespace pgtune::session {

class TimeEstimate {
 public:
  explicit TimeEstimate(std::size_t build_slots) : build_slots_(build_slots) {}

  void build_finished(double duration_s);
  void trial_finished(double duration_s);
  /// Nothing until enough has finished to judge by.
  [[nodiscard]] std::optional<double> remaining_s(std::size_t builds_left, std::size_t trials_left) const;

 private:
  std::size_t build_slots_;
  std::size_t builds_ = 0, trials_ = 0;
  double build_mean_s_ = 0, trial_mean_s_ = 0;
};

/// Expected wall time of a whole final, before its first round has been timed.
[[nodiscard]] double expected_final_s(const Options& options);

}  // namespace pgtune::session

// SPDX-License-Identifier: MIT
// The order in which a search tries variants. docs/contributing/extending.md says how to add one.
#pragma once

#include <cstddef>
#include <optional>

#include "tuner/model/outcome.hpp"

namespace pgtune::search {

/// The outcome of a proposal.
struct Observation {
  OutcomeKind outcome = OutcomeKind::kOk;
  bool cut = false;   ///< right but clearly slow: time_s is rough
  double time_s = 0;  ///< median per launch; 0 unless the outcome is kOk
};

/// By how much the fastest reported variant is expected to be slower than the fastest of all, as logarithm of the
/// ratio: the gain of continuing.
struct ExpectedMiss {
  std::optional<double> of_all;  ///< than the fastest of the space; nothing if the strategy has no estimate
  double of_presets = 0;         ///< than the fastest of the templates' presets; of_all if these hold all variants
};

/// Proposes variants by their index in the enumeration. Builds run ahead of trials, so several proposals are open at
/// once and reports arrive in any order.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// The next variant to try; each index at most once. Nothing: no proposal until more reports arrive, which ends the
  /// search when no proposal is open.
  [[nodiscard]] virtual std::optional<std::size_t> next() = 0;

  /// Called once for every proposal, when its outcome is known; immediately if an earlier session tried the variant. A
  /// resumed strategy thus repeats its interrupted run.
  virtual void report(std::size_t index, const Observation& observation) = 0;

  /// Nothing if the strategy has no estimate, or none yet.
  [[nodiscard]] virtual std::optional<ExpectedMiss> expected_miss() const { return std::nullopt; }

  /// Whether expected_miss() will have a value once there are enough reports.
  [[nodiscard]] virtual bool judges() const { return false; }
};

}  // namespace pgtune::search

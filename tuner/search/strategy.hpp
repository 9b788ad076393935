// SPDX-License-Identifier: MIT
// The order in which a search tries variants. docs/strategies.md says how to add one.
#pragma once

#include <cstddef>
#include <optional>

#include "tuner/model/outcome.hpp"

namespace pgtune::search {

/// What became of a proposal.
struct Observation {
  OutcomeKind outcome = OutcomeKind::kOk;
  bool cut = false;   ///< right but clearly slow: time_s is rough
  double time_s = 0;  ///< median per launch; 0 unless the outcome is kOk
};

/// By how much the fastest that was reported is expected to be slower than the fastest there is, as logarithm of the
/// ratio: what going on could gain.
struct ExpectedMiss {
  std::optional<double> of_all;  ///< than the fastest of the space; nothing where the strategy cannot say
  double of_presets = 0;         ///< than the fastest of the templates' presets; of_all where these hold all
};

/// Proposes variants by their index in the enumeration. Builds run ahead of trials, so several proposals are open at
/// once and reports arrive in any order.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// The next variant to try; each index at most once. Nothing: no proposal until more reports arrive, which ends the
  /// search when no proposal is open.
  [[nodiscard]] virtual std::optional<std::size_t> next() = 0;

  /// Called once for every proposal, when its outcome is known: at once where an earlier session tried the variant. A
  /// strategy thus goes the way it went before it was interrupted.
  virtual void report(std::size_t index, const Observation& observation) = 0;

  /// Nothing where the strategy does not say, or not yet.
  [[nodiscard]] virtual std::optional<ExpectedMiss> expected_miss() const { return std::nullopt; }

  /// Whether it will say expected_miss() once there is something to judge by.
  [[nodiscard]] virtual bool judges() const { return false; }
};

}  // namespace pgtune::search

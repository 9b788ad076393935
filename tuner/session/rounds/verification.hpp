// SPDX-License-Identifier: MIT
// After the final: its best are checked again as they were timed, and a variant that fails leaves the answer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/session/answer.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

/// Launches after which a fault that hits one launch with the probability `rate` has been seen with `confidence`.
[[nodiscard]] std::int64_t launches_that_find(double rate, double confidence);

/// One launch in fifty, with 99.9 %.
inline constexpr double kFoundRate = 0.02, kFoundConfidence = 0.999;
/// Expected device time for finalists other than the winner, which is always verified.
inline constexpr double kOtherFinalists_s = 0.75;
/// Seconds of a problem's verification that are worth a word.
inline constexpr double kToldFrom_s = 2;
/// Device time that a winner's verification has even where a time budget is used up: at the power cap the final alone
/// may take a budget's seconds.
inline constexpr double kWinnerOverBudget_s = 0.5;
/// At least this many launches of a winner, however long they take.
inline constexpr std::int64_t kLeastVerifyLaunches = 32;

/// What a pass over the ranking found.
struct Verified {
  std::optional<std::pair<Variant, Outcome>> failed = {};  ///< the pass ended there; nothing: the ranking is through
  std::vector<std::string> notes = {};
  double time_s = 0;         ///< wall time
  bool interrupted = false;  ///< by the stop flag
};

/// The verification of one session. A variant that passed is not verified again.
class Verification {
 public:
  explicit Verification(RoundContext& rounds) : context_(rounds.context), progress_(rounds.progress) {}

  /// Verifies the ranking from the winner down, with launches_that_find(kFoundRate, kFoundConfidence) each, until one
  /// fails: the winner always (with fewer launches where they take longer than a time budget has left and
  /// kWinnerOverBudget_s), those that follow while their device time is expected to stay within kOtherFinalists_s;
  /// all where energy decides the winner. Once the ranking is through, a note says what was done, and how long it
  /// took where that is more than kToldFrom_s. `field`: of the final, has the variants of the ranking. Errors: those of
  /// the device.
  [[nodiscard]] Result<Verified> verify(const std::vector<RankedVariant>& ranking,
                                        const std::vector<RoundEntry>& field);

 private:
  enum class Next { kGoOn, kFailed, kDone };

  /// `must`: it is the winner or may become it.
  [[nodiscard]] Result<Next> verify(const RankedVariant& row, const RoundEntry* entry, bool must, std::size_t ranked,
                                    Verified& out);
  [[nodiscard]] std::int64_t launches(double launch_s, bool must) const;
  [[nodiscard]] std::optional<std::string> note(const std::vector<RankedVariant>& ranking) const;

  const SessionContext& context_;
  ProgressReporter& progress_;
  bool begun_ = false;
  std::map<std::string, std::int64_t> verified_;  ///< launches by id
  double others_s_ = 0, took_s_ = 0;
};

}  // namespace pgtune::session

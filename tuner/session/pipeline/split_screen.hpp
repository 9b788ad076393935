// SPDX-License-Identifier: MIT
// One problem's variants screened on several boards of a class at once: a strategy whose proposals go to whichever
// board asks next.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace pgtune::session {

/// Made for one search. One board leads: it opens the screening, and races and finals are its own; the others help.
/// Thread-safe. All boards list the same variants in the same order.
class SplitScreen {
 public:
  /// What a helper found right, and did not cut.
  struct Found {
    std::size_t index = 0;
    double time_s = 0;  ///< per launch, at the leader's speed
  };
  /// What the helpers did.
  struct Help {
    std::size_t boards = 0;     ///< that screened
    std::int64_t screened = 0;  ///< variants, whatever became of them
    std::vector<Found> found;   ///< fastest first
  };

  /// One board's share: what it proposes no other board does, and what it was asked for and did not report goes to
  /// another once it is destroyed. What crashes or hangs on a helper is tried by the leader, too: it may be the
  /// helper's GPU that is broken. Times reach the strategy at the leader's speed: each is taken relative to the
  /// baseline's on the same board.
  class Share final : public search::Strategy {
   public:
    /// `baseline_s`: a launch of the baseline on this board. Precondition: the screening is or was open.
    Share(SplitScreen& screen, double baseline_s, bool leads);
    ~Share() override;
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    [[nodiscard]] std::optional<std::size_t> next() override;
    void report(std::size_t index, const search::Observation& observation) override;
    [[nodiscard]] bool waits() const override;
    [[nodiscard]] std::optional<search::ExpectedMiss> expected_miss() const override;
    [[nodiscard]] bool judges() const override;

   private:
    SplitScreen& screen_;
    double scale_;
    bool leads_;
    std::set<std::size_t> open_;
  };

  /// For the leader. The strategy is used until close() returns. `baseline_s`: a launch of the leader's baseline.
  /// `trials`: how many variants all boards may try.
  void open(search::Strategy& strategy, double baseline_s, std::optional<std::int64_t> trials);
  /// Whether proposals ended because `trials` were made.
  [[nodiscard]] bool budget_spent() const;
  /// No more proposals, also where it was never opened. Waits until no helper is at work, or `give_up` says so; what is
  /// reported after that goes nowhere.
  Help close(const std::function<bool()>& give_up);

  /// It was closed: there is nothing to help with.
  [[nodiscard]] bool is_closed() const;
  /// For a helper: waits until the screening is open. False where there is none (any more), or `give_up` says so.
  [[nodiscard]] bool await(const std::function<bool()>& give_up);

 private:
  enum class State { kExpected, kOpen, kClosed };
  [[nodiscard]] std::optional<std::size_t> propose(bool to_leader);

  mutable std::mutex mutex_;  ///< of what follows
  std::condition_variable changed_;
  State state_ = State::kExpected;
  search::Strategy* strategy_ = nullptr;
  double baseline_s_ = 0;
  std::optional<std::int64_t> trials_;
  std::int64_t proposed_ = 0;
  bool budget_spent_ = false;
  std::vector<std::size_t> returned_;    ///< proposed to a board that did not report them
  std::vector<std::size_t> for_leader_;  ///< that crashed or hung on a helper
  std::size_t open_ = 0;                 ///< proposals without a report, of all boards
  std::size_t helpers_ = 0;              ///< at work
  Help help_;
};

}  // namespace pgtune::session

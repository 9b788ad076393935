// SPDX-License-Identifier: MIT
// Every variant once: the leaders, then each template's variants by what it expects of them, with random ones between.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace pgtune::search {

/// A template's variants, which lie one after another.
struct Group {
  std::size_t size = 0;
  std::vector<double> costs;  ///< a guess at each one's time, in any unit; empty: nothing is known
};

class GuidedStrategy final : public Strategy {
 public:
  /// The indices are those of `groups` lying one after another. `first` (the templates' defaults and seeds, where
  /// legal) leads, then the cheapest of each group with costs, so that a good incumbent exists early and no template is
  /// judged by a default that does not suit the problem. With several groups nothing else is proposed before all
  /// leaders have reported, so that the order does not depend on when they do. Then groups take turns until the smaller
  /// ones are through, so that a budget is shared fairly; groups whose fastest leader took more than kBehind times as
  /// long as the fastest of all come last. A group with costs gives its cheapest first, and every kRandomEvery-th at
  /// random, for what the costs misjudge; one without gives a random order.
  GuidedStrategy(const std::vector<Group>& groups, const std::vector<std::size_t>& first, std::uint64_t seed);

  static constexpr std::size_t kRandomEvery = 4;
  /// In one of the recorded problems was the winner's template behind by as much (docs/strategies.md).
  static constexpr double kBehind = 2;

  [[nodiscard]] std::optional<std::size_t> next() override;
  void report(std::size_t index, const Observation& observation) override;

 private:
  /// A group's variants but the leaders, in their order, and what is known of its leaders.
  struct Member {
    std::size_t end;  ///< one behind its last index
    std::vector<std::size_t> rest;
    double fastest_leader_s;  ///< infinite while none was right
  };

  Member& member_of(std::size_t index);
  void share_rest();
  void take_turns(const std::vector<const Member*>& members);

  std::vector<Member> members_;
  std::vector<std::size_t> order_;         ///< the leaders, and the rest once it is shared
  std::vector<std::size_t> open_leaders_;  ///< without a report
  std::size_t position_ = 0;
  bool shared_ = false;
};

}  // namespace pgtune::search

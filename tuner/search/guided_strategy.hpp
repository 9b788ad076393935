// SPDX-License-Identifier: MIT
// Tries every variant once: the leaders, then each template's variants in the order of their costs, with random ones
// between.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace pgtune::search {

/// A template's variants, which have consecutive indices.
struct Group {
  std::size_t size = 0;
  std::vector<double> costs;  ///< a guess at each one's time, in any unit; empty: nothing is known
};

class GuidedStrategy final : public Strategy {
 public:
  /// Indices run through `groups` consecutively. The leaders are `first` (the templates' legal defaults and seeds),
  /// then the cheapest of each group with costs. A good incumbent thus exists early, and no template is judged by a
  /// default that does not suit the problem. With several groups nothing else is proposed before all leaders have
  /// reported, so that the order does not depend on timing. Then groups take turns until the smaller ones are used up,
  /// so that a budget is shared fairly. Groups whose fastest leader took more than kBehind times as long as the fastest
  /// of all come last. A group with costs proposes its cheapest first, and every kRandomEvery-th at random, because
  /// costs may be wrong; one without costs proposes in random order.
  GuidedStrategy(const std::vector<Group>& groups, const std::vector<std::size_t>& first, std::uint64_t seed);

  static constexpr std::size_t kRandomEvery = 4;
  /// In one of the recorded problems was the winner's template behind by as much.
  static constexpr double kBehind = 2;

  [[nodiscard]] std::optional<std::size_t> next() override;
  void report(std::size_t index, const Observation& observation) override;

 private:
  /// A group's variants except the leaders, in order, and the best result of its leaders.
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

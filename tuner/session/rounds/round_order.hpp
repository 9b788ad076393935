// SPDX-License-Identifier: MIT
// The order of contenders inside rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pgtune::session {

/// Orders from Williams squares (E. J. Williams, Experimental designs balanced for the estimation of residual effects
/// of treatments, Australian Journal of Scientific Research A 2, 1949), for what one contender leaves behind for the
/// next, such as a clock that follows power late.
///
/// Over one balanced group of group_rounds() rounds, from a multiple of it on, each contender takes each position
/// equally often (once for an even number of contenders, twice for an odd one) and precedes each other contender inside
/// rounds equally often. Each group has a random relabelling of its own. Rounds come in pairs, the second of a pair
/// being the first reversed: after any even number of rounds each contender has the same mean position, so that a
/// steady drift cancels. In fewer rounds than a group no contender takes a position, or follows the same other one,
/// more often than in the group, that is twice at most.
///
/// The last of a round also precedes the first of the next one. That is one sample in as many as there are contenders
/// and is not balanced: inside a pair it is the same contender, which leaves itself nothing, and from pair to pair
/// every group draws anew who follows whom. Where contenders drop out, the others move together, and what is left of
/// the balance is chance.
class RoundOrder {
 public:
  RoundOrder(std::size_t contenders, std::uint64_t seed) : contenders_(contenders), seed_(seed) {}
  /// `round` counts from 0. The same seed gives the same orders.
  [[nodiscard]] std::vector<std::size_t> order(int round) const;
  /// Rounds of a balanced group: as many as contenders, twice that for odd numbers of them above 1; 1 for none or one.
  [[nodiscard]] std::size_t group_rounds() const;

 private:
  std::size_t contenders_;
  std::uint64_t seed_;
};

/// The seed of one stage's orders, or of what else is drawn: the user's, mixed with `occasion`. That tells sessions and
/// their stages apart, so that the same search again does not repeat the same orders and what bias they may have.
[[nodiscard]] std::uint64_t order_seed(std::uint64_t seed, std::string_view occasion);

}  // namespace pgtune::session

// SPDX-License-Identifier: MIT
// The order of contenders inside rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pgtune::session {

/// Orders from a cyclic Latin square over a random row. Rounds come in pairs, the second of a pair reversed, so that
/// after every pair each contender has the same mean position and a steady drift of clocks cancels; the row shifts by
/// one from pair to pair, so that over a pair for every contender each of them takes each position exactly twice.
class RoundOrder {
 public:
  RoundOrder(std::size_t contenders, std::uint64_t seed);
  /// `round` counts from 0.
  [[nodiscard]] std::vector<std::size_t> order(int round) const;

 private:
  std::vector<std::size_t> row_;
};

}  // namespace pgtune::session

// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/round_order.hpp"

#include <algorithm>

#include "tuner/search/shuffle.hpp"

namespace pgtune::session {

RoundOrder::RoundOrder(std::size_t contenders, std::uint64_t seed) : row_(search::shuffled_indices(contenders, seed)) {}

std::vector<std::size_t> RoundOrder::order(int round) const {
  std::vector<std::size_t> order = row_;
  if (order.empty()) return order;
  const auto shift = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(round / 2) % order.size());
  std::rotate(order.begin(), order.begin() + shift, order.end());
  if (round % 2 == 1) std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace pgtune::session

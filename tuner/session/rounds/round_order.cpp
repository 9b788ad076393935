// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/round_order.hpp"

#include <algorithm>
#include <utility>

#include "tuner/search/shuffle.hpp"

namespace pgtune::session {
namespace {

/// Neighbouring inputs give unrelated outputs: the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

/// Row `row` of the square: 0, 1, n-1, 2, n-2, ... with `row` added to each, modulo n.
std::vector<std::size_t> williams_row(std::size_t n, std::size_t row) {
  std::vector<std::size_t> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = ((i % 2 == 1 ? (i + 1) / 2 : n - i / 2) + row) % n;
  return out;
}

}  // namespace

std::vector<std::size_t> RoundOrder::order(int round) const {
  const auto in_group = static_cast<std::size_t>(round) % group_rounds();
  const auto group = static_cast<std::size_t>(round) / group_rounds();
  const std::uint64_t seed = mixed(seed_ ^ mixed(group));
  // In an even square the reverse of row r is row r + n/2; in an odd one the reversed rows are the second square.
  const std::size_t pairs = std::max<std::size_t>(group_rounds() / 2, 1);
  const std::size_t row = search::shuffled_indices(pairs, mixed(seed))[in_group / 2];
  const auto labels = search::shuffled_indices(contenders_, seed);
  auto order = williams_row(contenders_, row);
  if (in_group % 2 == 1) std::reverse(order.begin(), order.end());
  for (std::size_t& contender : order) contender = labels[contender];
  return order;
}

std::size_t RoundOrder::group_rounds() const {
  if (contenders_ < 2) return 1;
  return contenders_ % 2 == 0 ? contenders_ : 2 * contenders_;
}

std::uint64_t order_seed(std::uint64_t seed, std::string_view occasion) {
  std::uint64_t hash = mixed(seed);
  for (const char c : occasion) hash = mixed(hash ^ static_cast<unsigned char>(c));
  return hash;
}

}  // namespace pgtune::session

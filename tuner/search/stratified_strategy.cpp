// SPDX-License-Identifier: MIT
// Random variants, equally many of each tile size: for tables that no seed, cost or preset has biased.
#include <map>
#include <utility>

#include "tuner/search/fixed_order.hpp"
#include "tuner/search/shuffle.hpp"
#include "tuner/search/strategies.hpp"

namespace pgtune::search {
namespace {

/// The binary logarithm, rounded down, of BM x BN, the names of a CTA tile's sides in templates; 0 if one is missing or
/// not positive.
int tile_class(const Variant& variant) {
  std::int64_t area = 1;
  for (const char* side : {"BM", "BN"}) {
    const ParameterValue* const value = variant.find(side);
    const std::int64_t* const length = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
    if (length == nullptr || *length < 1 || *length > 1 << 20) return 0;
    area *= *length;
  }
  int log2 = 0;
  while (area >>= 1) ++log2;
  return log2;
}

/// A stratum is the variants of one template with tile areas from one power of two to the next. Strata take turns until
/// the smaller ones are used up; within each, all variants are equally likely.
Result<std::unique_ptr<Strategy>> make_stratified(const SearchSpace& space, std::uint64_t seed) {
  std::map<std::pair<std::size_t, int>, std::vector<std::size_t>> members;
  std::size_t index = 0;
  for (std::size_t member = 0; member < space.template_sizes.size(); ++member) {
    for (const std::size_t end = index + space.template_sizes[member]; index < end; ++index)
      members[{member, tile_class(space.variants[index])}].push_back(index);
  }
  std::vector<std::vector<std::size_t>> strata;
  for (const auto& [stratum, variants] : members) {
    std::vector<std::size_t>& shuffled = strata.emplace_back();
    for (const std::size_t place : shuffled_indices(variants.size(), seed + strata.size()))
      shuffled.push_back(variants[place]);
  }
  std::vector<std::size_t> order;
  for (std::size_t turn = 0; order.size() < index; ++turn) {
    for (const std::vector<std::size_t>& stratum : strata)
      if (turn < stratum.size()) order.push_back(stratum[turn]);
  }
  return std::make_unique<FixedOrder>(std::move(order));
}

}  // namespace

StrategyInfo stratified_strategy() {
  return {"stratified", "at random, as many of each size of tile", make_stratified};
}

}  // namespace pgtune::search

// SPDX-License-Identifier: MIT
// Greedy local search: from the best of a few random variants to the first neighbour that is faster, until none is;
// then from others again.
#include <algorithm>
#include <limits>

#include "tuner/search/in_order.hpp"
#include "tuner/search/neighbourhood.hpp"
#include "tuner/search/strategies.hpp"
#include "tuner/search/turns.hpp"

namespace pgtune::search {
namespace {

class LocalStrategy final : public Strategy {
 public:
  LocalStrategy(std::span<const Variant> variants, std::uint64_t seed)
      : neighbourhood_(variants), untried_(variants.size(), seed), random_(seed) {}

  std::optional<std::size_t> next() override {
    if (starts_ < kStarts) {
      ++starts_;
      return opened(untried_.take_any());
    }
    while (!neighbours_.empty()) {
      const std::size_t index = neighbours_.back();
      neighbours_.pop_back();
      if (!untried_.contains(index)) continue;
      untried_.take(index);
      return opened(index);
    }
    if (open_ > 0) return std::nullopt;
    starts_ = 1;  // nothing nearby is faster: start anew
    best_s_ = std::numeric_limits<double>::infinity();
    return opened(untried_.take_any());
  }

  void report(std::size_t index, const Observation& observation) override {
    --open_;
    if (observation.outcome != OutcomeKind::kOk || observation.time_s >= best_s_) return;
    best_s_ = observation.time_s;
    neighbours_ = neighbourhood_.of(index);
    for (std::size_t left = neighbours_.size(); left > 1; --left)
      std::swap(neighbours_[left - 1], neighbours_[random_.below(left)]);
  }

 private:
  static constexpr std::size_t kStarts = 8;  ///< the best of so many leads

  std::optional<std::size_t> opened(std::optional<std::size_t> index) {
    if (index) ++open_;
    return index;
  }

  Neighbourhood neighbourhood_;
  Untried untried_;
  Random random_;
  std::vector<std::size_t> neighbours_;  ///< of the best since the last start; the last comes next
  double best_s_ = std::numeric_limits<double>::infinity();
  std::size_t open_ = 0, starts_ = 0;
};

Result<std::unique_ptr<Strategy>> make_local(const SearchSpace& space, std::uint64_t seed) {
  return std::make_unique<InOrder>(std::make_unique<Turns>(space, seed, [](auto variants, std::uint64_t own_seed) {
    return std::make_unique<LocalStrategy>(variants, own_seed);
  }));
}

}  // namespace

StrategyInfo local_strategy() { return {"local", "greedy steps to faster neighbours, with restarts", make_local}; }

}  // namespace pgtune::search

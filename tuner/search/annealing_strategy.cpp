// SPDX-License-Identifier: MIT
// Simulated annealing: a walk over neighbours that takes slower ones too, ever less often.
#include <algorithm>
#include <cmath>

#include "tuner/search/in_order.hpp"
#include "tuner/search/neighbourhood.hpp"
#include "tuner/search/strategies.hpp"
#include "tuner/search/turns.hpp"

namespace pgtune::search {
namespace {

class AnnealingStrategy final : public Strategy {
 public:
  AnnealingStrategy(std::span<const Variant> variants, std::uint64_t seed)
      : neighbourhood_(variants), untried_(variants.size(), seed), random_(seed) {}

  std::optional<std::size_t> next() override {
    if (here_) {
      std::erase_if(around_, [&](std::size_t index) { return !untried_.contains(index); });
      if (!around_.empty()) {
        const std::size_t index = around_[random_.below(around_.size())];
        untried_.take(index);
        return index;
      }
      here_.reset();  // all its neighbours were tried: go on from what comes next
    }
    return untried_.take_any();
  }

  void report(std::size_t index, const Observation& observation) override {
    temperature_ = std::max(kColdest, temperature_ * kCooling);
    if (observation.outcome != OutcomeKind::kOk) return;
    const double slower = here_ ? std::log(observation.time_s / here_s_) : 0;
    if (slower > 0 && random_.unit() >= std::exp(-slower / temperature_)) return;
    here_ = index;
    here_s_ = observation.time_s;
    around_ = neighbourhood_.of(index);
  }

 private:
  // Of the logarithm of times: at first a variant 30 % slower is taken every third time, after 100 reports one 3 %
  // slower.
  static constexpr double kHottest = 0.3, kColdest = 0.003, kCooling = 0.977;

  Neighbourhood neighbourhood_;
  Untried untried_;
  Random random_;
  std::optional<std::size_t> here_;
  double here_s_ = 0;
  std::vector<std::size_t> around_;
  double temperature_ = kHottest;
};

Result<std::unique_ptr<Strategy>> make_annealing(const SearchSpace& space, std::uint64_t seed) {
  return std::make_unique<InOrder>(std::make_unique<Turns>(space, seed, [](auto variants, std::uint64_t own_seed) {
    return std::make_unique<AnnealingStrategy>(variants, own_seed);
  }));
}

}  // namespace

StrategyInfo annealing_strategy() {
  return {"annealing", "a walk over neighbours that takes slower ones ever less often", make_annealing};
}

}  // namespace pgtune::search

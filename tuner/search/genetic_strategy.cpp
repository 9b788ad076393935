// SPDX-License-Identifier: MIT
// A genetic algorithm without generations: each proposal has two parents among the fastest known, and a few parameters
// of its own.
#include <algorithm>
#include <utility>

#include "tuner/search/in_order.hpp"
#include "tuner/search/neighbourhood.hpp"
#include "tuner/search/strategies.hpp"
#include "tuner/search/turns.hpp"

namespace pgtune::search {
namespace {

class GeneticStrategy final : public Strategy {
 public:
  GeneticStrategy(std::span<const Variant> variants, std::uint64_t seed)
      : neighbourhood_(variants), untried_(variants.size(), seed), random_(seed) {}

  std::optional<std::size_t> next() override {
    // Where rules leave little between the parents, a child that is legal and new may not be found.
    constexpr int kAttempts = 32;
    for (int attempt = 0; population_.size() >= kLeast && attempt < kAttempts; ++attempt) {
      const auto index = neighbourhood_.find(child(parent(), parent()));
      if (!index || !untried_.contains(*index)) continue;
      untried_.take(*index);
      return index;
    }
    return untried_.take_any();
  }

  void report(std::size_t index, const Observation& observation) override {
    if (observation.outcome != OutcomeKind::kOk) return;
    const std::pair own{observation.time_s, index};
    population_.insert(std::upper_bound(population_.begin(), population_.end(), own), own);
    if (population_.size() > kMost) population_.pop_back();
  }

 private:
  static constexpr std::size_t kLeast = 8, kMost = 16;

  /// The better of two of the population.
  const Neighbourhood::Point& parent() {
    const std::size_t place = std::min(random_.below(population_.size()), random_.below(population_.size()));
    return neighbourhood_.point(population_[place].second);
  }

  /// Each parameter by one of them; about one of all, of its own.
  Neighbourhood::Point child(const Neighbourhood::Point& mother, const Neighbourhood::Point& father) {
    Neighbourhood::Point out = mother;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (random_.below(2) == 1) out[i] = father[i];
      if (random_.below(out.size()) == 0) out[i] = static_cast<std::uint32_t>(random_.below(neighbourhood_.levels(i)));
    }
    return out;
  }

  Neighbourhood neighbourhood_;
  Untried untried_;
  Random random_;
  std::vector<std::pair<double, std::size_t>> population_;  ///< time and index, the fastest first
};

Result<std::unique_ptr<Strategy>> make_genetic(const SearchSpace& space, std::uint64_t seed) {
  return std::make_unique<InOrder>(std::make_unique<Turns>(space, seed, [](auto variants, std::uint64_t own_seed) {
    return std::make_unique<GeneticStrategy>(variants, own_seed);
  }));
}

}  // namespace

StrategyInfo genetic_strategy() { return {"genetic", "crosses and mutates the fastest that are known", make_genetic}; }

}  // namespace pgtune::search

// SPDX-License-Identifier: MIT
// Tries every variant in the order of the parameters' values, one template after another; for tables of whole spaces.
#include "tuner/search/strategies.hpp"

namespace pgtune::search {
namespace {

class ExhaustiveStrategy final : public Strategy {
 public:
  explicit ExhaustiveStrategy(std::size_t count) : count_(count) {}

  std::optional<std::size_t> next() override {
    if (next_ == count_) return std::nullopt;
    return next_++;
  }
  void report(std::size_t, const Observation&) override {}

 private:
  std::size_t count_, next_ = 0;
};

Result<std::unique_ptr<Strategy>> make_exhaustive(const SearchSpace& space, std::uint64_t) {
  return std::make_unique<ExhaustiveStrategy>(space.variants.size());
}

}  // namespace

StrategyInfo exhaustive_strategy() {
  return {"exhaustive", "all in the order of the parameters' values", make_exhaustive};
}

}  // namespace pgtune::search

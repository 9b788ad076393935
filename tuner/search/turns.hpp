// SPDX-License-Identifier: MIT
// A strategy for one template, used for several: each has a strategy of its own, and they take turns.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "tuner/search/search_space.hpp"
#include "tuner/search/strategy.hpp"

namespace pgtune::search {

class Turns final : public Strategy {
 public:
  /// Makes a strategy over the variants of one template, whose indices count from 0.
  using Maker = std::function<std::unique_ptr<Strategy>(std::span<const Variant> variants, std::uint64_t seed)>;

  /// A template of whose first kJudgedBy reports the fastest took more than kBehind times as long as the fastest of
  /// all, or of which none was right, has its turn again when the others are through.
  static constexpr std::size_t kJudgedBy = 8;
  static constexpr double kBehind = 1.5;

  Turns(const SearchSpace& space, std::uint64_t seed, const Maker& make);

  [[nodiscard]] std::optional<std::size_t> next() override;
  void report(std::size_t index, const Observation& observation) override;

 private:
  struct Member {
    std::size_t begin, end;  ///< its indices
    std::unique_ptr<Strategy> strategy;
    std::size_t open = 0, reported = 0;
    double fastest_s = std::numeric_limits<double>::infinity();
    bool exhausted = false;
  };

  /// The next proposal of those that are behind, or of the others. `waiting` is set where one will have more.
  [[nodiscard]] std::optional<std::size_t> next_of(bool behind, bool& waiting);
  [[nodiscard]] bool is_behind(const Member& member) const;

  std::vector<Member> members_;
  std::size_t turn_ = 0;
  double fastest_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace pgtune::search

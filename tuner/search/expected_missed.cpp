// SPDX-License-Identifier: MIT
#include "tuner/search/expected_missed.hpp"

#include <algorithm>
#include <cmath>

namespace pgtune::search {

double expected_missed(double gap, double deviation, std::size_t tried, std::size_t variants) {
  // The miss falls like the gap, and like the deviation over a power of the number of tried variants. On tables of
  // whole spaces both predict it equally well, and their geometric mean predicts it better.
  constexpr double kOfGap = 0.6, kOfDeviation = 1.24, kFall = 0.6;
  // In small tables the best come first, so the rest holds fewer of them than its share.
  constexpr double kLeftOver = 5;
  const auto n = static_cast<double>(std::max<std::size_t>(tried, 1));
  const double left = 1 - std::min(1.0, n / static_cast<double>(std::max<std::size_t>(variants, 1)));
  return std::sqrt(kOfGap * gap * kOfDeviation * deviation * std::pow(n, -kFall)) * std::pow(left, kLeftOver);
}

bool is_enough(const std::optional<ExpectedMiss>& miss, double margin, std::size_t tried) {
  constexpr std::size_t kLeast = 32;
  return tried >= kLeast && miss && std::expm1(miss->of_presets) < margin;
}

}  // namespace pgtune::search

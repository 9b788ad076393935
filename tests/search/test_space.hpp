// SPDX-License-Identifier: MIT
// A space that strategies are tried on.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tuner/search/strategies.hpp"

namespace pgtune::search {

/// Two templates, of A = 0..15 and B = 0..7 without a corner, and of A = 0..9.
struct TestSpace {
  std::vector<Variant> variants;
  SearchSpace space;

  TestSpace() {
    for (std::int64_t a = 0; a < 16; ++a) {
      for (std::int64_t b = 0; b < 8; ++b) {
        if (a + b < 20) variants.push_back({"grid", {{"A", a}, {"B", b}}});
      }
    }
    const std::size_t grid = variants.size();
    for (std::int64_t a = 0; a < 10; ++a) variants.push_back({"line", {{"A", a}}});
    space = {variants, {grid, 10}, {3, grid + 1}, [this] {
               return Result<std::vector<std::optional<double>>>(
                   std::vector<std::optional<double>>(variants.size(), std::nullopt));
             }};
  }

  /// A bowl with its bottom at A = 11, B = 4; a tenth of the grid crashes.
  [[nodiscard]] Observation observe(std::size_t index) const {
    const auto value = [&](std::size_t i) {
      return static_cast<double>(std::get<std::int64_t>(variants[index].parameters[i].value));
    };
    if (variants[index].template_name == "line") return {OutcomeKind::kOk, false, 1.2 + 0.01 * value(0)};
    if (index % 10 == 7) return {OutcomeKind::kCrashed, false, 0};
    return {OutcomeKind::kOk, false, 1 + 0.01 * std::pow(value(0) - 11, 2) + 0.02 * std::pow(value(1) - 4, 2)};
  }
};

inline std::unique_ptr<Strategy> made(const std::string& name, const SearchSpace& space, std::uint64_t seed) {
  auto strategy = make_strategy(name, space, seed);
  EXPECT_TRUE(strategy) << strategy.error().text();
  return std::move(*strategy);
}

}  // namespace pgtune::search

// SPDX-License-Identifier: MIT
// What a strategy is told of the space it searches. Whatever costs time to find out is asked for by those who use it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tuner/model/variant.hpp"
#include "tuner/search/predictor.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::search {

struct SearchSpace {
  std::span<const Variant> variants;        ///< the templates' legal ones, one template after another
  std::vector<std::size_t> template_sizes;  ///< how many each template has; their sum is that of `variants`
  std::vector<std::size_t> tried_first;     ///< templates' defaults and seeds, where they are legal
  /// A guess at each variant's time by its template, in a unit that only compares variants of one template; nothing
  /// where the template does not say. Errors (usage): a template's expression that fails.
  std::function<Result<std::vector<std::optional<double>>>()> costs;
  /// What searches of other problems let expect of each variant; empty where there is nothing to learn from. Errors
  /// likewise.
  std::function<Result<Expectation>()> expectation = {};
  /// Whether its template's preset holds a variant worth trying, of each; empty where nothing else is in the space.
  /// Errors likewise.
  std::function<Result<std::vector<bool>>()> in_preset = {};
};

}  // namespace pgtune::search

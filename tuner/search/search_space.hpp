// SPDX-License-Identifier: MIT
// A strategy's view of the space that it searches. Functions provide what takes time to compute.
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
  std::vector<std::size_t> template_sizes;  ///< number of variants of each template; the sum is the size of `variants`
  std::vector<std::size_t> tried_first;     ///< templates' legal defaults and seeds
  /// Each variant's time as its template estimates it, comparable only within one template; nothing if the template has
  /// no estimate. Errors (usage): a template's expression that fails.
  std::function<Result<std::vector<std::optional<double>>>()> costs;
  /// Predictions for each variant from searches of other problems; empty if there is nothing to learn from. The same
  /// errors.
  std::function<Result<Expectation>()> expectation = {};
  /// For each variant, whether its template's preset includes it; empty if the space holds nothing else. The same
  /// errors.
  std::function<Result<std::vector<bool>>()> in_preset = {};
};

}  // namespace pgtune::search

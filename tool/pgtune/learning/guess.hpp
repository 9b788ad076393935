// SPDX-License-Identifier: MIT
// The variant to take for a problem without a search.
#pragma once

#include <cstddef>
#include <optional>

#include "tuner/model/problem.hpp"
#include "tuner/model/variant.hpp"
#include "tuner/search/predictor.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

struct Guess {
  Variant variant;
  search::Predictor::Loss loss;  ///< what such guesses lost on problems that the model was not trained on
  bool seen_device = false;      ///< a search on such a GPU is among what the model was trained on
  bool seen_template = false;    ///< and one with the variant's template
  std::size_t variants = 0;      ///< among which it is: all that are legal
};

/// What the model expects to be the fastest; nothing where no variant is legal. Throws CommandError: an expression of a
/// template that fails.
[[nodiscard]] std::optional<Guess> guess_variant(const search::Predictor& model, const space::TemplateSet& templates,
                                                 const Problem& problem, const DeviceInfo& device);

/// "2.5 % slower than the best (median), 9.8 % or more in one of ten": of `loss` with tables.
[[nodiscard]] std::string loss_text(const search::Predictor::Loss& loss);

}  // namespace pgtune::tool

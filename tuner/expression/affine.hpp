// SPDX-License-Identifier: MIT
// Whether an expression's value is a sum of numbers known beforehand, each multiplied by at most one of some names.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "tuner/expression/expression.hpp"

namespace pgtune::space {

/// The first of `names` that `expression` does more with than add it, subtract it, and multiply it by what has none of
/// them; nothing where it is affine in all of them: what one of them is worth then follows from two values.
[[nodiscard]] std::optional<std::string> name_not_affine(const Expression& expression,
                                                         const std::set<std::string>& names);

}  // namespace pgtune::space

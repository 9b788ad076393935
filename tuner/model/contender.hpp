// SPDX-License-Identifier: MIT
// Who is measured beside others: a variant, or one of the baseline's algorithms.
#pragma once

#include <variant>

#include "tuner/model/variant.hpp"

namespace pgtune {

/// One of the baseline's algorithms.
struct BaselineAlgorithm {
  int index = 0;  ///< into BaselineReport::algorithms

  friend bool operator==(const BaselineAlgorithm&, const BaselineAlgorithm&) = default;
};

using Contender = std::variant<Variant, BaselineAlgorithm>;

// The contender's variant or algorithm, or null if it is the other. The same for contenders with more data than the
// variant (protocol::BuiltContender, db::ContenderRow).

template <typename OfVariant>
[[nodiscard]] const OfVariant* variant_of(const std::variant<OfVariant, BaselineAlgorithm>& contender) {
  return std::get_if<OfVariant>(&contender);
}
template <typename OfVariant>
[[nodiscard]] const BaselineAlgorithm* algorithm_of(const std::variant<OfVariant, BaselineAlgorithm>& contender) {
  return std::get_if<BaselineAlgorithm>(&contender);
}

}  // namespace pgtune

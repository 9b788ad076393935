// SPDX-License-Identifier: MIT
// What a search minimises.
#pragma once

#include <optional>
#include <string_view>

#include "tuner/util/named_enum.hpp"

namespace pgtune::session {

enum class Objective {
  kTime,
  kEnergy,              ///< joules of one launch
  kEnergyDelayProduct,  ///< joules times seconds of one launch
};

/// "time", "energy", "edp".
[[nodiscard]] std::string_view to_string(Objective objective);
[[nodiscard]] std::optional<Objective> parse_objective(std::string_view text);
[[nodiscard]] EnumTable<Objective> enum_table(Objective of);

}  // namespace pgtune::session

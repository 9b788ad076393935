// SPDX-License-Identifier: MIT
#include "tuner/session/answer/objective.hpp"

namespace pgtune::session {
namespace {

constexpr EnumNames<Objective, 3> kObjectives{
    {{Objective::kTime, "time"}, {Objective::kEnergy, "energy"}, {Objective::kEnergyDelayProduct, "edp"}}};

}  // namespace

std::string_view to_string(Objective objective) { return enum_name(kObjectives, objective); }
std::optional<Objective> parse_objective(std::string_view text) { return enum_value(kObjectives, text); }
EnumTable<Objective> enum_table(Objective /*of*/) { return kObjectives; }

}  // namespace pgtune::session

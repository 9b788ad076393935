// SPDX-License-Identifier: MIT
#include "tuner/session/answer.hpp"

#include "tuner/session/answer_json.hpp"

namespace pgtune::session {
namespace {

constexpr EnumNames<Objective, 3> kObjectives{
    {{Objective::kTime, "time"}, {Objective::kEnergy, "energy"}, {Objective::kEnergyDelayProduct, "edp"}}};

}  // namespace

std::string_view to_string(Objective objective) { return enum_name(kObjectives, objective); }
std::optional<Objective> parse_objective(std::string_view text) { return enum_value(kObjectives, text); }
EnumTable<Objective> enum_table(Objective /*of*/) { return kObjectives; }

}  // namespace pgtune::session

void nlohmann::adl_serializer<pgtune::session::Answer, void>::to_json(json& out,
                                                                      const pgtune::session::Answer& answer) {
  out = json::object();
  pgtune::write_fields(out, answer);
}

void nlohmann::adl_serializer<pgtune::session::Answer, void>::from_json(const json& in,
                                                                        pgtune::session::Answer& answer) {
  answer = {};
  pgtune::read_fields(in, answer);
  if (answer.ranking.empty()) throw json::other_error::create(501, "an answer without a winner", &in);
}

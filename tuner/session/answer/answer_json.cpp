// SPDX-License-Identifier: MIT
#include "tuner/session/answer/answer_json.hpp"

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

// SPDX-License-Identifier: MIT
// JSON of a session's answer: the database keeps it as text. The members are the fields that the records name.
#pragma once

#include <nlohmann/json.hpp>

#include "tuner/model/json.hpp"
#include "tuner/session/answer.hpp"
#include "tuner/util/fields_json.hpp"

/// As of every record that names its fields, but an answer without a ranking has no winner and is none. Throws
/// nlohmann::json::exception.
template <>
struct nlohmann::adl_serializer<pgtune::session::Answer, void> {
  static void to_json(json& out, const pgtune::session::Answer& answer);
  static void from_json(const json& in, pgtune::session::Answer& answer);
};

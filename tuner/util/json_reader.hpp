// SPDX-License-Identifier: MIT
// JSON text that somebody else may have written, such as a database's. The one way to read it: nothing in the text can
// end the program.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tuner/util/result.hpp"

namespace pgtune {

/// The document in `text`. An Error (database) says in a few words why there is none: nested deeper than kMaxJsonDepth,
/// no JSON, a number that no double holds. Where the text came from and what to do about it is the caller's to say.
[[nodiscard]] Result<nlohmann::json> parse_untrusted_json(std::string_view text);

/// What nlohmann/json objected to, short enough for a message, as UTF-8.
[[nodiscard]] std::string cause_of(const nlohmann::json::exception& error);

/// The record in `text`; an Error as from parse_untrusted_json(), or for a missing field, a wrong type or an unknown
/// word, or what the record's validate() objects to.
template <typename Record>
[[nodiscard]] Result<Record> read_untrusted_json(std::string_view text) {
  TRY_ASSIGN(auto document, parse_untrusted_json(text));
  try {
    auto record = document.get<Record>();
    if constexpr (requires { record.validate(); }) {
      TRY(record.validate());
    }
    return record;
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorKind::kDatabase, cause_of(error));
  }
}

}  // namespace pgtune

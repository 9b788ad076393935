// SPDX-License-Identifier: MIT
// Reads untrusted JSON text, such as a database's. No text can end the program.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tuner/util/result.hpp"

namespace pgtune {

/// The document in `text`. Errors (database), in a few words: nested deeper than kMaxJsonDepth, no JSON, a number that
/// no double holds. The caller adds the text's origin and the remedy.
[[nodiscard]] Result<nlohmann::json> parse_untrusted_json(std::string_view text);

/// nlohmann/json's error, short enough for a message, as UTF-8.
[[nodiscard]] std::string cause_of(const nlohmann::json::exception& error);

/// The record in `text`. Errors of parse_untrusted_json(), or for a missing field, a wrong type, an unknown word, or a
/// failure of the record's validate().
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

// SPDX-License-Identifier: MIT
// Column values as JSON, for dumps: nlohmann's, but for the infinities that a file from elsewhere may hold.
#pragma once

#include <string>
#include <string_view>

#include "db/sqlite/statement.hpp"

namespace pgtune::db {

/// `text` between quotes. Bytes that are no UTF-8 become U+FFFD.
void append_json(std::string& out, std::string_view text);
/// A number in the shortest form that reads back as itself; infinities, which JSON lacks, as 1e999 and -1e999.
void append_json(std::string& out, const Value& value);

}  // namespace pgtune::db

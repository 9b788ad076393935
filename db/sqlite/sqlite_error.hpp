// SPDX-License-Identifier: MIT
// Turns SQLite's error codes into messages with cause and remedy.
#pragma once

#include <string>

struct sqlite3;

namespace pgtune::db {

/// Throws Error for the connection's last failure. `origin` names the database in the message.
[[noreturn]] void throw_sqlite_error(sqlite3* handle, const std::string& origin);

}  // namespace pgtune::db

// SPDX-License-Identifier: MIT
// Names of sessions that stay theirs in every copy and merged file.
#pragma once

#include <cstdint>
#include <string>

#include "db/database.hpp"

namespace pgtune::db {

/// A UUID of version 7 (RFC 9562): 48 bits of Unix time in milliseconds, then random bits. Its time is later than that
/// of every session in the database even where the clock was set back, so that inside one file the order of uids is the
/// order in which sessions began. For use inside the write transaction that inserts the session. Throws Error.
[[nodiscard]] std::string next_session_uid(const Database& database);

/// The time in a uid: its first 48 bits.
[[nodiscard]] std::int64_t uid_time_ms(const std::string& uid);

}  // namespace pgtune::db

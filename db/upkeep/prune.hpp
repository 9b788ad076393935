// SPDX-License-Identifier: MIT
// Dropping sessions that are no longer wanted.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/queries/records.hpp"

namespace pgtune::db {

/// What to drop; one matching rule suffices. keep_newest and unfinished keep a session from which a remaining search
/// continued.
struct PruneRules {
  /// Per problem, device, template name, conditions and kind: drops all but this many newest finished sessions.
  std::optional<std::int64_t> keep_newest = {};
  bool any_board = false;   ///< keep_newest counts sessions of all boards of a device class together
  bool unfinished = false;  ///< sessions that never finished and wrote nothing for kQuietTime: killed ones
  bool recorded = false;    ///< sessions from a recording; other rules do not apply to them
};

/// How long an unfinished session must have been silent; a running one writes each trial.
inline constexpr std::chrono::hours kQuietTime{1};

struct PrunedSession {
  SessionRow session;
  std::string reason;
};

/// The sessions that the rules would drop, newest first. Throws Error.
[[nodiscard]] std::vector<PrunedSession> sessions_to_prune(const Database& database, const PruneRules& rules);

/// Drops these sessions, and rows that are no longer referred to, in one transaction. Database::vacuum() frees the
/// space. Throws Error.
std::vector<PrunedSession> prune(Database& database, const PruneRules& rules);

}  // namespace pgtune::db

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

/// What to drop; a session is dropped when any rule says so. One that a search which stays went on with is kept by
/// keep_newest and unfinished.
struct PruneRules {
  /// Of each problem, device, template name, conditions and kind, all but this many newest finished sessions.
  std::optional<std::int64_t> keep_newest = {};
  bool any_board = false;   ///< keep_newest counts sessions of all boards of a device class together
  bool unfinished = false;  ///< sessions that never finished and wrote nothing for kQuietTime: killed ones
  bool recorded = false;    ///< sessions that come from a recording; other rules leave them alone
};

/// How long an unfinished session must have been silent; a running one writes each trial.
inline constexpr std::chrono::hours kQuietTime{1};

struct PrunedSession {
  SessionRow session;
  std::string reason;
};

/// What the rules would drop, newest first. Throws Error.
[[nodiscard]] std::vector<PrunedSession> sessions_to_prune(const Database& database, const PruneRules& rules);

/// Drops what the rules say, and rows that nothing refers to any more, in one transaction. Space is given back by
/// Database::vacuum(). Throws Error.
std::vector<PrunedSession> prune(Database& database, const PruneRules& rules);

}  // namespace pgtune::db

// SPDX-License-Identifier: MIT
// The searches of a recording that can be replayed, and what each of them tried.
#pragma once

#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/queries/records.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

struct RecordedSession {
  db::SessionRow row;
  std::vector<space::TemplateId> tried;  ///< the templates of the variants it tried, in the versions it tried
};

/// The finished searches on boards like the newest one's, under whatever driver, newest first; at least one. Throws
/// CommandError (environment): there is none.
[[nodiscard]] std::vector<RecordedSession> recorded_sessions(const db::Database& database);
/// Those of them that searched `problem`; maybe none.
[[nodiscard]] std::vector<RecordedSession> recorded_sessions(const db::Database& database, const Problem& problem);

/// Whether it tried any of the templates, in whatever version.
[[nodiscard]] bool tried_any(const RecordedSession& session, const space::TemplateSet& templates);
/// Whether it tried any of them, and each that it tried in the set's version.
[[nodiscard]] bool tried_in_these_versions(const RecordedSession& session, const space::TemplateSet& templates);

}  // namespace pgtune::tool

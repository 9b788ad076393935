// SPDX-License-Identifier: MIT
#include "tool/pgtune/replay/recorded_sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "db/queries/queries.hpp"
#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {
namespace {

/// Without what they tried.
std::vector<RecordedSession> replayable_sessions(const db::Database& database) {
  std::vector<RecordedSession> sessions;
  for (db::SessionRow& row : db::list_sessions(database)) {
    if (row.source != Source::kGpu || row.kind != "search" || row.finished_at.empty()) continue;
    if (!sessions.empty() && row.hardware != sessions.front().row.hardware) continue;
    sessions.push_back({std::move(row), {}});
  }
  if (sessions.empty())
    throw CommandError(
        ErrorKind::kEnvironment,
        fmt::format("{} holds no finished search from a GPU. Record one with 'pgtune search --db FILE' on "
                    "a machine with a GPU.",
                    database.origin()));
  return sessions;
}

std::vector<RecordedSession> with_tried(const db::Database& database, std::vector<RecordedSession> sessions) {
  if (sessions.empty()) return sessions;  // the query goes over all trials
  const auto tried = db::tried_templates(database);
  for (RecordedSession& session : sessions) {
    const auto found = tried.find(session.row.id);
    if (found == tried.end()) continue;
    for (const db::TemplateRow& row : found->second) session.tried.push_back({row.name, row.content_hash});
  }
  return sessions;
}

/// The version of a template that the set has; null where the set has no such template.
const space::TemplateDefinition* of_name(const space::TemplateSet& templates, const std::string& name) {
  for (const space::TemplateDefinition& definition : templates.definitions()) {
    if (definition.name == name) return &definition;
  }
  return nullptr;
}

}  // namespace

std::vector<RecordedSession> recorded_sessions(const db::Database& database) {
  return with_tried(database, replayable_sessions(database));
}

std::vector<RecordedSession> recorded_sessions(const db::Database& database, const Problem& problem) {
  std::vector<RecordedSession> sessions = replayable_sessions(database);
  std::erase_if(sessions, [&](const RecordedSession& session) { return session.row.problem_key != problem.key(); });
  return with_tried(database, std::move(sessions));
}

bool tried_any(const RecordedSession& session, const space::TemplateSet& templates) {
  return std::any_of(session.tried.begin(), session.tried.end(),
                     [&](const space::TemplateId& id) { return of_name(templates, id.name) != nullptr; });
}

bool tried_in_these_versions(const RecordedSession& session, const space::TemplateSet& templates) {
  return tried_any(session, templates) &&
         std::all_of(session.tried.begin(), session.tried.end(), [&](const space::TemplateId& id) {
           const space::TemplateDefinition* const ours = of_name(templates, id.name);
           return ours == nullptr || ours->content_hash == id.content_hash;
         });
}

}  // namespace pgtune::tool

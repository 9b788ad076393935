// SPDX-License-Identifier: MIT
#include "tool/pgtune/replay/recorded_versions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "db/queries/queries.hpp"
#include "tool/pgtune/replay/recorded_sessions.hpp"
#include "tool/pgtune/replay/recording_loader.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::tool {
namespace {

/// Nothing of a version with another set of parameters is.
bool is_legal_here(const space::TemplateDefinition& definition, const std::string& key, const Problem& problem,
                   const DeviceInfo& device) {
  const auto variant = space::recorded_variant(definition, key);
  if (!variant) return false;
  const auto reason = space::why_illegal(definition, *variant, problem, device);
  return reason && !*reason;
}

/// Whether a replay of the session has anything to time.
bool any_right_is_legal(const db::Database& database, const space::TemplateSet& versions, const db::SessionRow& session,
                        const Problem& problem, const DeviceInfo& device) {
  for (const space::TemplateDefinition& definition : versions.definitions()) {
    const db::ResultKey key{session.device_class,    session.problem_key, definition.name,
                            definition.content_hash, session.source,      session.conditions_key};
    for (const auto& [variant_key, trial] : db::find_trials(database, key)) {
      if (trial.report.outcome.kind == OutcomeKind::kOk && is_legal_here(definition, variant_key, problem, device))
        return true;
    }
  }
  return false;
}

}  // namespace

space::TemplateSet recorded_versions(std::span<const db::Database> databases, const space::TemplateSet& templates,
                                     const Problem& problem) {
  std::vector<std::vector<RecordedSession>> searches;
  for (const db::Database& database : databases) {
    searches.push_back(recorded_sessions(database, problem));
    const bool current = std::any_of(searches.back().begin(), searches.back().end(),
                                     [&](const auto& session) { return tried_in_these_versions(session, templates); });
    if (current) return templates;
  }
  for (std::size_t i = 0; i < databases.size(); ++i) {
    for (const RecordedSession& session : searches[i]) {
      if (!tried_any(session, templates)) continue;
      space::TemplateSet versions = templates.recorded_as(session.tried);
      // A file from elsewhere may say that a session tried two versions of a template: such a one is not replayed.
      if (tried_in_these_versions(session, versions) &&
          any_right_is_legal(databases[i], versions, session.row, problem, recorded_device(databases[i])))
        return versions;
    }
  }
  return templates;
}

std::string versions_text(const std::vector<space::OtherVersion>& others) {
  constexpr std::size_t kHashShown = 8;
  if (others.empty()) return {};
  std::vector<std::string> named;
  for (const space::OtherVersion& other : others)
    named.push_back(fmt::format("{} ({}, here {})", other.name, other.measured_hash.substr(0, kHashShown),
                                other.built_hash.substr(0, kHashShown)));
  return fmt::format(
      "measured with another version of {} than this build's: a hint, not a measurement of this build's kernels",
      fmt::join(named, ", "));
}

}  // namespace pgtune::tool

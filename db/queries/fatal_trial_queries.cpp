// SPDX-License-Identifier: MIT
// What crashed or hung, over all problems and templates.
#include "db/queries/queries.hpp"
#include "db/sqlite/statement.hpp"

namespace pgtune::db {

std::vector<FatalTrialRow> find_fatal_trials(const Database& database, const std::string& architecture,
                                             const std::string& driver_version, const std::string& nvrtc_version) {
  Statement statement(
      database,
      "SELECT templates.name, templates.content_hash, variants.key, builds.cubin_hash, outcomes.kind, outcomes.reason,"
      " problems.problem_json, sessions.id, sessions.started_at"
      " FROM outcomes JOIN trials ON trials.outcome = outcomes.id JOIN sessions ON sessions.id = trials.session"
      " JOIN environments ON environments.id = sessions.environment JOIN devices ON devices.id = sessions.device"
      " JOIN problems ON problems.id = sessions.problem JOIN variants ON variants.id = trials.variant"
      " JOIN templates ON templates.id = variants.template LEFT JOIN builds ON builds.id = trials.build"
      " WHERE outcomes.kind IN ('crashed', 'timeout') AND sessions.source = 'gpu' AND devices.architecture = ?1"
      "  AND CASE WHEN trials.build IS NULL THEN environments.nvrtc_version = ?3"
      "  ELSE environments.driver_version = ?2 END"
      "  AND NOT EXISTS (SELECT 1 FROM trials AS later JOIN sessions AS then_session ON then_session.id = later.session"
      "   JOIN outcomes AS then_outcome ON then_outcome.id = later.outcome"
      "   JOIN environments AS then_environment ON then_environment.id = then_session.environment"
      "   WHERE later.id > trials.id AND later.variant = trials.variant AND then_session.problem = sessions.problem"
      "    AND then_environment.driver_version = environments.driver_version"
      "    AND then_environment.nvrtc_version = environments.nvrtc_version AND then_session.source = 'gpu'"
      "    AND then_outcome.kind NOT IN ('quarantined', 'not_recorded'))"
      " ORDER BY trials.id");
  statement.bind(architecture, driver_version, nvrtc_version);
  std::vector<FatalTrialRow> rows;
  while (statement.step()) {
    auto& row = rows.emplace_back();
    statement >> row.template_name >> row.template_hash >> row.variant_key >> row.cubin_hash >> row.kind >>
        row.reason >> row.problem_json >> row.session >> row.started_at;
  }
  return rows;
}

}  // namespace pgtune::db

// SPDX-License-Identifier: MIT
// What is known of a device apart from problems: its description, its ceilings, and what crashed or hung on its
// architecture.
#include <algorithm>

#include "db/queries/queries.hpp"
#include "db/queries/records.hpp"
#include "db/queries/row_lookup.hpp"
#include "db/queries/stored_records.hpp"
#include "db/sqlite/statement.hpp"
#include "db/sqlite/timestamp.hpp"
#include "tuner/model/device_class.hpp"

namespace pgtune::db {

std::optional<DeviceInfo> find_device(const Database& database, const std::string& uuid) {
  return find_record<DeviceInfo>(database,
                                 "SELECT info_json FROM devices JOIN sessions ON sessions.device = devices.id"
                                 " WHERE uuid = ?1 ORDER BY sessions.id DESC LIMIT 1",
                                 "a device", uuid);
}

void save_ceilings(Database& database, const DeviceInfo& device, const Program& program, const Ceilings& ceilings) {
  Transaction transaction(database, TransactionKind::kWrite);
  // Never earlier than the last, even if the clock was set back: merged files sort ceilings by this time.
  const std::string last =
      query_text(database, "SELECT measured_at FROM ceilings WHERE source = 'gpu' ORDER BY id DESC LIMIT 1");
  insert_row(database,
             "INSERT INTO ceilings (device, environment, source, measured_at, ceilings_json)"
             " VALUES (?1, ?2, 'gpu', ?3, ?4) RETURNING id",
             device_row(database, device), environment_row(database, device, program), std::max(last, utc_now()),
             nlohmann::json(ceilings).dump());
  transaction.commit();
}

std::optional<DeviceInfo> find_session_device(const Database& database, RowId session) {
  return find_record<DeviceInfo>(database,
                                 "SELECT info_json FROM devices JOIN sessions ON sessions.device = devices.id"
                                 " WHERE sessions.id = ?1",
                                 "a device", session);
}

std::optional<Ceilings> find_ceilings(const Database& database, const DeviceInfo& device, bool recorded) {
  return find_record<Ceilings>(database,
                               "SELECT ceilings_json FROM ceilings JOIN devices ON devices.id = ceilings.device"
                               " JOIN environments ON environments.id = ceilings.environment "
                               "WHERE uuid = ?1 AND hardware = ?2 AND driver_branch = ?3 AND (source = 'gpu' OR ?4) "
                               "ORDER BY source, ceilings.id DESC LIMIT 1",
                               "a GPU's ceilings", device.uuid, device_class(device).hardware(), device.driver_branch(),
                               static_cast<std::int64_t>(recorded));
}

std::vector<FatalTrial> find_fatal_trials(const Database& database, const std::string& architecture,
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
      "    AND then_outcome.kind <> 'quarantined')"
      " ORDER BY trials.id");
  statement.bind(architecture, driver_version, nvrtc_version);
  std::vector<FatalTrial> fatal_trials;
  while (statement.step()) {
    FatalTrial& fatal = fatal_trials.emplace_back();
    std::string kind, problem;
    statement >> fatal.template_name >> fatal.template_hash >> fatal.variant_key >> fatal.cubin_hash >> kind >>
        fatal.outcome.reason >> problem >> fatal.session >> fatal.date;
    fatal.outcome.kind = known_word<OutcomeKind>(kind, "outcome");
    fatal.problem = record_of<Problem>(problem, "the database holds a problem that");
  }
  return fatal_trials;
}

}  // namespace pgtune::db

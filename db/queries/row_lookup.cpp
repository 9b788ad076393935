// SPDX-License-Identifier: MIT
#include "db/queries/row_lookup.hpp"

#include "db/queries/records.hpp"
#include "db/queries/stored_records.hpp"
#include "db/sqlite/timestamp.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::db {

RowId device_row(const Database& database, const DeviceInfo& device) {
  const std::string info = nlohmann::json(device).dump();
  const auto found = find_row(
      database, "SELECT id FROM devices WHERE uuid = ?1 AND name = ?2 AND architecture = ?3 AND info_json = ?4",
      device.uuid, device.name, device.architecture, info);
  return found ? *found
               : insert_row(database,
                            "INSERT INTO devices (uuid, name, architecture, info_json, hardware)"
                            " VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id",
                            device.uuid, device.name, device.architecture, info, device_class(device).hardware());
}

RowId environment_row(const Database& database, const DeviceInfo& device, const Program& program) {
  return find_or_insert(
      database,
      "SELECT id FROM environments WHERE driver_version = ?1 AND driver_branch = ?2 AND nvrtc_version = ?3"
      " AND cublaslt_version = ?4 AND pgtune_version = ?5 AND host_os = ?6",
      "INSERT INTO environments (driver_version, driver_branch, nvrtc_version, cublaslt_version, pgtune_version,"
      " host_os) VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
      device.driver_version, device.driver_branch(), device.nvrtc_version, device.cublaslt_version, program.version,
      program.host_os);
}

RowId problem_row(const Database& database, const Problem& problem) {
  const std::string key = problem.key();
  const auto found = find_row(database, "SELECT id FROM problems WHERE key = ?1", key);
  return found ? *found
               : insert_row(database,
                            "INSERT INTO problems (key, m, n, k, batch, dtype, layout, problem_json)"
                            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id",
                            key, problem.m, problem.n, problem.k, problem.batch, to_string(problem.dtype),
                            problem.layout(), nlohmann::json(problem).dump());
}

RowId conditions_row(const Database& database, const std::string& key, const std::string& json) {
  const auto found = find_row(database, "SELECT id FROM conditions WHERE key = ?1", key);
  return found ? *found
               : insert_row(database, "INSERT INTO conditions (key, conditions_json) VALUES (?1, ?2) RETURNING id", key,
                            json);
}

RowId template_of_session(const Database& database, RowId session) {
  const auto found = find_row(database, "SELECT template FROM sessions WHERE id = ?1", session);
  if (!found) {
    throw Error("database " + database.origin() + " has no session " + std::to_string(session), 0);
  }
  return *found;
}

std::optional<RowId> find_variant(const Database& database, RowId template_id, const std::string& key) {
  return find_row(database, "SELECT id FROM variants WHERE template = ?1 AND key = ?2", template_id, key);
}

RowId template_row_id(const Database& database, const TemplateRow& row) {
  return find_or_insert(database, "SELECT id FROM templates WHERE name = ?1 AND content_hash = ?2",
                        "INSERT INTO templates (name, content_hash) VALUES (?1, ?2) RETURNING id", row.name,
                        row.content_hash);
}

RowId template_of_variant(const Database& database, RowId session, const TemplateRow& origin) {
  const RowId searched = template_of_session(database, session);
  return origin.name.empty() ? searched : template_row_id(database, origin);
}

namespace {

RowId variant_of_template(const Database& database, RowId template_id, const VariantRow& variant) {
  const auto found = find_variant(database, template_id, variant.key);
  return found ? *found
               : insert_row(database,
                            "INSERT INTO variants (template, key, parameters_json) VALUES (?1, ?2, ?3) RETURNING id",
                            template_id, variant.key, variant.parameters_json);
}

}  // namespace

RowId variant_row(const Database& database, const VariantRow& variant) {
  return variant_of_template(database, template_row_id(database, variant.origin), variant);
}

RowId variant_row(const Database& database, RowId session, const VariantRow& variant) {
  return variant_of_template(database, template_of_variant(database, session, variant.origin), variant);
}

RowId stage_row(const Database& database, Stage stage) {
  return find_or_insert(database, "SELECT id FROM stages WHERE name = ?1",
                        "INSERT INTO stages (name) VALUES (?1) RETURNING id", to_string(stage));
}

RowId outcome_row(const Database& database, const Outcome& outcome) {
  return find_or_insert(database, "SELECT id FROM outcomes WHERE kind = ?1 AND reason = ?2",
                        "INSERT INTO outcomes (kind, reason) VALUES (?1, ?2) RETURNING id", to_string(outcome.kind),
                        outcome.reason);
}

CheckColumns check_columns(const std::optional<CheckReport>& check) {
  if (!check) return {};
  return {check->max_error, check->norm_error};
}

void end_session(const Database& database, RowId session) {
  static_cast<void>(template_of_session(database, session));
  Statement(database, "UPDATE sessions SET finished_at = ?2 WHERE id = ?1").bind(session, utc_now()).run();
}

const RecordColumns<BuildInfo>& build_columns() {
  static const RecordColumns<BuildInfo> kColumns({"cubin_path", "cached"});
  return kColumns;
}

const RecordColumns<Sample>& sample_columns() {
  static const RecordColumns<Sample> kColumns({"stage"});
  return kColumns;
}

std::string selected_sample_columns() { return "stages.name, " + sample_columns().list(); }

Sample read_sample(Statement& statement) {
  std::string stage;
  Sample sample;
  statement >> stage;
  sample.stage = known_word<Stage>(stage, "stage");
  sample_columns().read(statement, sample);
  require_valid(sample);
  return sample;
}

}  // namespace pgtune::db

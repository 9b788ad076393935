// SPDX-License-Identifier: MIT
// Hardware counters of kernels, which belong to a problem and a GPU and not to a session.
#include <algorithm>
#include <set>

#include "db/queries/queries.hpp"
#include "db/queries/records.hpp"
#include "db/queries/row_lookup.hpp"
#include "db/queries/stored_records.hpp"
#include "db/sqlite/statement.hpp"
#include "db/sqlite/timestamp.hpp"
#include "tuner/model/device_class.hpp"

namespace pgtune::db {
void save_counters(Database& database, const DeviceInfo& device, const Program& program, const Problem& problem,
                   const Conditions& conditions, const CountersRow& row) {
  Transaction transaction(database, TransactionKind::kWrite);
  // Like the time of ceilings, this one never decreases: merged files sort by it.
  const std::string last = query_text(database, "SELECT measured_at FROM kernel_counters ORDER BY id DESC LIMIT 1");
  std::optional<RowId> variant;
  std::optional<std::string> algorithm;
  if (const auto* const known = std::get_if<VariantRow>(&row.contender)) variant = variant_row(database, *known);
  if (const auto* const known = std::get_if<std::string>(&row.contender)) algorithm = *known;
  insert_row(database,
             "INSERT INTO kernel_counters (device, environment, problem, conditions, variant, algorithm, measured_at,"
             " counters_json) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id",
             device_row(database, device), environment_row(database, device, program), problem_row(database, problem),
             conditions_row(database, conditions.key(), nlohmann::json(conditions).dump()), variant, algorithm,
             std::max(last, utc_now()), nlohmann::json(row.counters).dump());
  transaction.commit();
}

std::vector<CountersRow> find_counters(const Database& database, const DeviceInfo& device,
                                       const std::string& problem_key, const std::string& conditions_key) {
  Statement statement(
      database,
      "SELECT variants.key, variants.parameters_json, templates.name, templates.content_hash, algorithm, devices.uuid,"
      " measured_at, counters_json"
      " FROM kernel_counters JOIN devices ON devices.id = kernel_counters.device"
      " JOIN environments ON environments.id = kernel_counters.environment"
      " JOIN problems ON problems.id = kernel_counters.problem"
      " JOIN conditions ON conditions.id = kernel_counters.conditions"
      " LEFT JOIN variants ON variants.id = kernel_counters.variant LEFT JOIN templates ON templates.id = "
      "variants.template"
      " WHERE problems.key = ?1 AND conditions.key = ?2 AND devices.hardware = ?3 AND environments.driver_branch = ?4"
      " ORDER BY kernel_counters.id DESC");
  statement.bind(problem_key, conditions_key, device_class(device).hardware(), device.driver_branch());
  std::vector<CountersRow> rows;
  std::set<std::string> known;
  while (statement.step()) {
    CountersRow row;
    std::string name, text;
    if (statement.next_is_null()) {
      statement.skip(4);
      statement >> name;
      row.contender = name;
    } else {
      VariantRow variant;
      statement >> variant.key >> variant.parameters_json >> variant.origin.name >> variant.origin.content_hash;
      statement.skip(1);
      name = variant.origin.content_hash + '/' + variant.key;
      row.contender = std::move(variant);
    }
    statement >> row.device_uuid >> row.measured_at >> text;
    if (!known.insert(name).second) continue;  // an older one
    row.counters = record_of<KernelCounters>(text, "the database holds counters of a kernel that");
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace pgtune::db

// SPDX-License-Identifier: MIT
// Ceilings of a device.
#include <algorithm>

#include "db/queries/queries.hpp"
#include "db/queries/row_lookup.hpp"
#include "db/sqlite/statement.hpp"
#include "db/sqlite/timestamp.hpp"
#include "db/sqlite/transaction.hpp"

namespace pgtune::db {

void save_ceilings(Database& database, const DeviceRow& device, const EnvironmentRow& environment,
                   const CeilingsRow& ceilings) {
  Transaction transaction(database, TransactionKind::kWrite);
  // Never before the last, were the clock set back: merged files sort ceilings by this time.
  const std::string last = query_text(database, "SELECT measured_at FROM ceilings ORDER BY id DESC LIMIT 1");
  insert_row(database,
             "INSERT INTO ceilings (device, environment, source, measured_at, ceilings_json)"
             " VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id",
             device_row(database, device), environment_row(database, environment), ceilings.source,
             std::max(last, utc_now()), ceilings.ceilings_json);
  transaction.commit();
}

std::optional<CeilingsRow> find_ceilings(const Database& database, const std::string& device_uuid,
                                         const std::string& driver_branch, const std::string& source) {
  Statement statement(database,
                      "SELECT source, measured_at, ceilings_json FROM ceilings"
                      " JOIN devices ON devices.id = ceilings.device"
                      " JOIN environments ON environments.id = ceilings.environment "
                      "WHERE uuid = ?1 AND driver_branch = ?2 AND source = ?3 ORDER BY ceilings.id DESC LIMIT 1");
  if (!statement.bind(device_uuid, driver_branch, source).step()) {
    return std::nullopt;
  }
  CeilingsRow row;
  statement >> row.source >> row.measured_at >> row.ceilings_json;
  return row;
}

}  // namespace pgtune::db

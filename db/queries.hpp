// SPDX-License-Identifier: MIT
// What pgtune asks of and writes to a database. All functions throw db::Error.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/records.hpp"

namespace pgtune::db {

/// What a trial or answer is looked up by: results are reused only where all of this matches.
struct ResultKey {
  std::string device_uuid, driver_branch, problem_key, template_name, template_hash, source;
};

// Writing. Each call is one transaction.

/// Opens a session; device, environment, problem and template rows are created or found.
[[nodiscard]] RowId begin_session(Database& database, const DeviceRow& device, const EnvironmentRow& environment,
                                  const ProblemRow& problem, const TemplateRow& template_row,
                                  const SessionRow& session);
void save_reference(Database& database, RowId session, const ReferenceRow& reference);
/// Inserts the variant's outcome, build and blocks. A second trial of the same variant under the same ResultKey adds a
/// newer row: readers take the newest.
void save_trial(Database& database, RowId session, const TrialRow& trial);
/// Blocks of finalists (by variant key, already saved as trials in some session) and of the reference. A second call
/// for the session replaces the first.
void save_final(Database& database, RowId session, const std::map<std::string, std::vector<BlockRow>>& variants,
                const std::vector<ReferenceBlocksRow>& references);
/// Stamps finished_at and stores the best (absent: nothing valid).
void finish_session(Database& database, RowId session, const std::optional<BestRow>& best);

// Reading.

/// The best of the newest finished session that has one for the key.
[[nodiscard]] std::optional<BestRow> find_best(const Database& database, const ResultKey& key);
/// Newest best per (problem, device, template content, source), newest first within problem order m, n, k.
[[nodiscard]] std::vector<BestRow> list_best(const Database& database, const BestFilter& filter);
/// Newest trial of each variant under the key, with screening blocks of that trial, by variant key.
[[nodiscard]] std::map<std::string, TrialRow> find_trials(const Database& database, const ResultKey& key);
/// One row a uuid, as its newest session described it.
[[nodiscard]] std::vector<DeviceRow> list_devices(const Database& database);
/// Newest first.
[[nodiscard]] std::vector<SessionRow> list_sessions(const Database& database);
[[nodiscard]] std::optional<ReferenceRow> find_reference(const Database& database, RowId session);
/// Blocks of the final of one session: by variant key, and of the reference's algorithms.
[[nodiscard]] std::map<std::string, std::vector<BlockRow>> final_blocks(const Database& database, RowId session);
[[nodiscard]] std::vector<ReferenceBlocksRow> reference_blocks(const Database& database, RowId session);
[[nodiscard]] std::optional<ProblemRow> find_problem(const Database& database, const std::string& key);
[[nodiscard]] Totals totals(const Database& database);

}  // namespace pgtune::db

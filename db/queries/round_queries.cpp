// SPDX-License-Identifier: MIT
// Rounds and energy windows: a session's measurements that compare contenders.
#include "db/queries/queries.hpp"
#include "db/queries/records.hpp"
#include "db/queries/row_lookup.hpp"
#include "db/queries/stored_records.hpp"
#include "db/sqlite/statement.hpp"

namespace pgtune::db {
namespace {

/// Empty: the idle GPU's.
RowId contender_row(const Database& database, RowId session, const std::optional<ContenderRow>& contender) {
  std::optional<RowId> variant;
  std::optional<int> algorithm;
  if (contender) {
    if (const VariantRow* const row = variant_of(*contender)) variant = variant_row(database, session, *row);
    if (const BaselineAlgorithm* const known = algorithm_of(*contender)) algorithm = known->index;
  }
  return find_or_insert(database,
                        "SELECT id FROM contenders WHERE session = ?1 AND ifnull(variant, 0) = ifnull(?2, 0)"
                        " AND ifnull(algorithm, -1) = ifnull(?3, -1)",
                        "INSERT INTO contenders (session, variant, algorithm) VALUES (?1, ?2, ?3) RETURNING id",
                        session, variant, algorithm);
}

/// The columns that read_contender() reads; from kContenderJoins.
constexpr const char* kContenderColumns =
    "variants.key, variants.parameters_json, templates.name, templates.content_hash, algorithm";
constexpr int kContenderColumnCount = 5;
constexpr const char* kContenderJoins =
    " LEFT JOIN variants ON variants.id = contenders.variant LEFT JOIN templates ON templates.id = variants.template ";

std::optional<ContenderRow> read_contender(Statement& statement) {
  if (!statement.next_is_null()) {
    VariantRow variant;
    statement >> variant.key >> variant.parameters_json >> variant.origin.name >> variant.origin.content_hash;
    statement.skip(1);
    return variant;
  }
  statement.skip(4);
  if (!statement.next_is_null()) {
    BaselineAlgorithm algorithm;
    statement >> algorithm.index;
    return algorithm;
  }
  statement.skip(1);
  return std::nullopt;
}

std::string rounds_of_session(const char* condition) {
  return std::string("SELECT contenders.id, ") + kContenderColumns + ", " + selected_sample_columns() +
         " FROM contenders JOIN round_samples ON round_samples.contender = contenders.id"
         " JOIN stages ON stages.id = round_samples.stage" +
         kContenderJoins + "WHERE session = ?1" + condition + " ORDER BY contenders.id, stage, round, position";
}

std::vector<ContenderSamplesRow> read_rounds(Statement& statement) {
  std::vector<ContenderSamplesRow> rows;
  RowId last = 0;
  while (statement.step()) {
    RowId id = 0;
    statement >> id;
    if (rows.empty() || id != last) {
      auto contender = read_contender(statement);
      if (!contender) continue;  // the idle GPU has no samples of rounds: the file is damaged
      rows.push_back({std::move(*contender), {}});
      last = id;
    } else {
      statement.skip(kContenderColumnCount);  // long texts, the same for each of its samples
    }
    rows.back().samples.push_back(read_sample(statement));
  }
  return rows;
}

const RecordColumns<EnergyWindow>& energy_columns() {
  static const RecordColumns<EnergyWindow> kColumns({});
  return kColumns;
}

}  // namespace

void save_rounds(Database& database, RowId session, Stage stage, const std::vector<ContenderSamplesRow>& contenders) {
  Transaction transaction(database, TransactionKind::kWrite);
  static_cast<void>(template_of_session(database, session));
  const RowId stage_id = stage_row(database, stage);
  Statement(database,
            "DELETE FROM round_samples WHERE stage = ?2"
            " AND contender IN (SELECT id FROM contenders WHERE session = ?1)")
      .bind(session, stage_id)
      .run();
  Statement insert(database, sample_columns().insert_into("round_samples", {"contender", "stage"}));
  for (const auto& contender : contenders) {
    const RowId contender_id = contender_row(database, session, contender.contender);
    for (const auto& sample : contender.samples) {
      insert.bind(contender_id, stage_id, sample_columns().of(sample)).run();
    }
  }
  transaction.commit();
}

std::vector<ContenderSamplesRow> session_rounds(const Database& database, RowId session) {
  Statement statement(database, rounds_of_session(""));
  return read_rounds(statement.bind(session));
}

void for_each_rounds(const Database& database, const std::vector<RowId>& sessions, std::pair<Stage, Stage> stages,
                     const std::function<void(RowId, std::vector<ContenderSamplesRow>)>& take) {
  Statement statement(database, rounds_of_session(" AND stages.name IN (?2, ?3)"));
  for (const RowId session : sessions) take(session, read_rounds(statement.bind(session, stages.first, stages.second)));
}

void save_energy(Database& database, RowId session, const EnergyWindowRow& row) {
  Transaction transaction(database, TransactionKind::kWrite);
  static_cast<void>(template_of_session(database, session));
  const RowId contender = contender_row(database, session, row.contender);
  Statement(database, energy_columns().insert_into("energy_windows", {"contender", "ordinal"}, "INSERT OR REPLACE"))
      .bind(contender, row.ordinal, energy_columns().of(row.window))
      .run();
  transaction.commit();
}

std::vector<EnergyWindowRow> energy_windows(const Database& database, RowId session) {
  Statement statement(database, std::string("SELECT ") + kContenderColumns + ", ordinal, " + energy_columns().list() +
                                    " FROM contenders"
                                    " JOIN energy_windows ON energy_windows.contender = contenders.id" +
                                    kContenderJoins + "WHERE session = ?1 ORDER BY contenders.id, ordinal");
  statement.bind(session);
  std::vector<EnergyWindowRow> rows;
  while (statement.step()) {
    auto& row = rows.emplace_back();
    row.contender = read_contender(statement);
    statement >> row.ordinal;
    energy_columns().read(statement, row.window);
    require_valid(row.window);
  }
  return rows;
}

}  // namespace pgtune::db

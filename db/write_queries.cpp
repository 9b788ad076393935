// SPDX-License-Identifier: MIT
// What pgtune writes, each call one transaction.
#include <chrono>
#include <ctime>
#include <map>

#include "db/queries.hpp"
#include "db/statement.hpp"
#include "db/transaction.hpp"

namespace pgtune::db {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[sizeof "2026-01-01T00:00:00Z"] = "";
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, length};
}

std::int64_t unix_time_ms() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

template <typename... Values>
std::optional<RowId> find_row(const Database& database, std::string_view select, const Values&... values) {
  Statement statement(database, select);
  if (!statement.bind(values...).step()) {
    return std::nullopt;
  }
  RowId row = 0;
  statement >> row;
  return row;
}

/// `insert` ends in RETURNING id.
template <typename... Values>
RowId insert_row(const Database& database, std::string_view insert, const Values&... values) {
  Statement statement(database, insert);
  RowId row = 0;
  if (statement.bind(values...).step()) {
    statement >> row;
  }
  statement.run();
  return row;
}

/// Both statements take the same values. Safe inside a write transaction only.
template <typename... Values>
RowId find_or_insert(const Database& database, std::string_view select, std::string_view insert,
                     const Values&... values) {
  const auto found = find_row(database, select, values...);
  return found ? *found : insert_row(database, insert, values...);
}

RowId device_row(const Database& database, const DeviceRow& device) {
  return find_or_insert(
      database, "SELECT id FROM devices WHERE uuid = ?1 AND name = ?2 AND architecture = ?3 AND info_json = ?4",
      "INSERT INTO devices (uuid, name, architecture, info_json) VALUES (?1, ?2, ?3, ?4) RETURNING id", device.uuid,
      device.name, device.architecture, device.info_json);
}

RowId environment_row(const Database& database, const EnvironmentRow& environment) {
  return find_or_insert(
      database,
      "SELECT id FROM environments WHERE driver_version = ?1 AND driver_branch = ?2 AND nvrtc_version = ?3"
      " AND cublaslt_version = ?4 AND pgtune_version = ?5 AND host_os = ?6",
      "INSERT INTO environments (driver_version, driver_branch, nvrtc_version, cublaslt_version, pgtune_version,"
      " host_os) VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
      environment.driver_version, environment.driver_branch, environment.nvrtc_version, environment.cublaslt_version,
      environment.pgtune_version, environment.host_os);
}

RowId problem_row(const Database& database, const ProblemRow& problem) {
  const auto found = find_row(database, "SELECT id FROM problems WHERE key = ?1", problem.key);
  return found ? *found
               : insert_row(database,
                            "INSERT INTO problems (key, m, n, k, batch, math_mode, layout, problem_json)"
                            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id",
                            problem.key, problem.m, problem.n, problem.k, problem.batch, problem.math_mode,
                            problem.layout, problem.problem_json);
}

RowId template_row_id(const Database& database, const TemplateRow& row) {
  return find_or_insert(database, "SELECT id FROM templates WHERE name = ?1 AND content_hash = ?2",
                        "INSERT INTO templates (name, content_hash) VALUES (?1, ?2) RETURNING id", row.name,
                        row.content_hash);
}

/// Throws where there is no such session.
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

RowId known_variant(const Database& database, RowId template_id, const std::string& key) {
  const auto found = find_variant(database, template_id, key);
  if (!found) {
    throw Error("database " + database.origin() + " has no trial of variant " + key, 0);
  }
  return *found;
}

RowId variant_row(const Database& database, RowId template_id, const VariantRow& variant) {
  const auto found = find_variant(database, template_id, variant.key);
  return found ? *found
               : insert_row(database,
                            "INSERT INTO variants (template, key, parameters_json) VALUES (?1, ?2, ?3) RETURNING id",
                            template_id, variant.key, variant.parameters_json);
}

RowId build_row(const Database& database, const BuildRow& build) {
  if (build.key_hash.empty()) {
    throw Error("a build without key_hash cannot be stored in database " + database.origin(), 0);
  }
  const auto found = find_row(database, "SELECT id FROM builds WHERE key_hash = ?1", build.key_hash);
  return found ? *found
               : insert_row(database,
                            "INSERT INTO builds (key_hash, cubin_hash, registers, static_smem_bytes, local_bytes,"
                            " spill_bytes, compile_s) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING id",
                            build.key_hash, build.cubin_hash, build.registers, build.static_smem_bytes,
                            build.local_bytes, build.spill_bytes, build.compile_s);
}

/// Inserts blocks through a statement whose parameters are the owner's key columns, then ordinal, stage, round,
/// position, launches, time_s, sm_clock_hz.
class BlockWriter {
 public:
  BlockWriter(const Database& database, std::string_view insert) : database_(database), statement_(database, insert) {}

  template <typename... OwnerKey>
  void write(const std::vector<BlockRow>& blocks, OwnerKey... owner) {
    int ordinal = 0;
    for (const auto& block : blocks) {
      statement_
          .bind(owner..., ordinal++, stage_row(block.stage), block.round, block.position, block.launches, block.time_s,
                block.sm_clock_hz)
          .run();
    }
  }

 private:
  RowId stage_row(const std::string& name) {
    auto [place, is_new] = stages_.try_emplace(name, 0);
    if (is_new) {
      place->second = find_or_insert(database_, "SELECT id FROM stages WHERE name = ?1",
                                     "INSERT INTO stages (name) VALUES (?1) RETURNING id", name);
    }
    return place->second;
  }

  const Database& database_;
  Statement statement_;
  std::map<std::string, RowId> stages_;
};

}  // namespace

RowId begin_session(Database& database, const DeviceRow& device, const EnvironmentRow& environment,
                    const ProblemRow& problem, const TemplateRow& template_row, const SessionRow& session) {
  Transaction transaction(database, TransactionKind::kWrite);
  const RowId row = insert_row(
      database,
      "INSERT INTO sessions (device, environment, problem, template, source, started_at, seed, command_line)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id",
      device_row(database, device), environment_row(database, environment), problem_row(database, problem),
      template_row_id(database, template_row), session.source, utc_now(), session.seed, session.command_line);
  transaction.commit();
  return row;
}

void save_reference(Database& database, RowId session, const ReferenceRow& reference) {
  Transaction transaction(database, TransactionKind::kWrite);
  static_cast<void>(template_of_session(database, session));
  Statement(database, "INSERT OR REPLACE INTO reference_reports (session, library, report_json) VALUES (?1, ?2, ?3)")
      .bind(session, reference.library, reference.report_json)
      .run();
  transaction.commit();
}

void save_trial(Database& database, RowId session, const TrialRow& trial) {
  Transaction transaction(database, TransactionKind::kWrite);
  const RowId variant = variant_row(database, template_of_session(database, session), trial.variant);
  std::optional<RowId> build;
  if (trial.build) {
    build = build_row(database, *trial.build);
  }
  const auto& outcome = trial.outcome;
  const RowId outcome_id =
      find_or_insert(database, "SELECT id FROM outcomes WHERE kind = ?1 AND reason = ?2",
                     "INSERT INTO outcomes (kind, reason) VALUES (?1, ?2) RETURNING id", outcome.kind, outcome.reason);
  const RowId row = insert_row(
      database,
      "INSERT INTO trials (session, variant, build, outcome, cut, max_error, norm_error, recorded_at)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id",
      session, variant, build, outcome_id, outcome.cut, outcome.max_error, outcome.norm_error, unix_time_ms());
  BlockWriter(database,
              "INSERT INTO blocks (trial, ordinal, stage, round, position, launches, time_s, sm_clock_hz)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")
      .write(trial.blocks, row);
  transaction.commit();
}

void save_final(Database& database, RowId session, const std::map<std::string, std::vector<BlockRow>>& variants,
                const std::vector<ReferenceBlocksRow>& references) {
  Transaction transaction(database, TransactionKind::kWrite);
  const RowId template_id = template_of_session(database, session);
  Statement(database, "DELETE FROM final_blocks WHERE session = ?1").bind(session).run();
  Statement(database, "DELETE FROM reference_blocks WHERE session = ?1").bind(session).run();
  BlockWriter finals(database,
                     "INSERT INTO final_blocks (session, variant, ordinal, stage, round, position, launches, time_s,"
                     " sm_clock_hz) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
  for (const auto& [key, blocks] : variants) {
    finals.write(blocks, session, known_variant(database, template_id, key));
  }
  BlockWriter references_writer(database,
                                "INSERT INTO reference_blocks (session, algorithm, ordinal, stage, round, position,"
                                " launches, time_s, sm_clock_hz) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
  for (const auto& reference : references) {
    references_writer.write(reference.blocks, session, reference.algorithm);
  }
  transaction.commit();
}

void finish_session(Database& database, RowId session, const std::optional<BestRow>& best) {
  Transaction transaction(database, TransactionKind::kWrite);
  const RowId template_id = template_of_session(database, session);
  Statement(database, "UPDATE sessions SET finished_at = ?2 WHERE id = ?1").bind(session, utc_now()).run();
  if (best) {
    Statement(database,
              "INSERT OR REPLACE INTO best (session, variant, time_s, tflops, ratio, ratio_low, ratio_high,"
              " reference_first_s, reference_best_s, complete, answer_json)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")
        .bind(session, known_variant(database, template_id, best->variant_key), best->time_s, best->tflops, best->ratio,
              best->ratio_low, best->ratio_high, best->reference_first_s, best->reference_best_s, best->complete,
              best->answer_json)
        .run();
  }
  transaction.commit();
}

}  // namespace pgtune::db

// SPDX-License-Identifier: MIT
// Writing queries; each call is one transaction.
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "db/queries/queries.hpp"
#include "db/queries/row_lookup.hpp"
#include "db/sqlite/statement.hpp"
#include "db/sqlite/timestamp.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::db {
namespace {

RowId known_variant(const Database& database, RowId template_id, const std::string& key) {
  const auto found = find_variant(database, template_id, key);
  if (!found) {
    throw Error("database " + database.origin() + " has no trial of variant " + key, 0);
  }
  return *found;
}

RowId build_row(const Database& database, const BuildInfo& build) {
  if (build.key_hash.empty()) {
    throw Error("a build without key_hash cannot be stored in database " + database.origin(), 0);
  }
  const auto found = find_row(database, "SELECT id FROM builds WHERE key_hash = ?1", build.key_hash);
  return found ? *found
               : insert_row(database, build_columns().insert_into("builds", {}) + " RETURNING id",
                            build_columns().of(build));
}

}  // namespace

RowId begin_session(Database& database, const DeviceInfo& device, const Program& program, const Problem& problem,
                    const TemplateRow& template_row, const SessionRow& session) {
  Transaction transaction(database, TransactionKind::kWrite);
  const RowId row = insert_row(
      database,
      "INSERT INTO sessions (device, environment, problem, template, conditions, kind, source, started_at, seed,"
      " command_line, uid) VALUES (?1, ?2, ?3, ?4, ?5, ?6, iif(?7, 'replay', 'gpu'), ?8, ?9, ?10, ?11) RETURNING id",
      device_row(database, device), environment_row(database, device, program), problem_row(database, problem),
      template_row_id(database, template_row),
      conditions_row(database, session.conditions_key, session.conditions_json), session.kind, session.recorded,
      utc_now(), session.seed, session.command_line, next_session_uid(database));
  transaction.commit();
  return row;
}

void save_baseline(Database& database, RowId session, const BaselineReport& baseline) {
  Transaction transaction(database, TransactionKind::kWrite);
  static_cast<void>(template_of_session(database, session));
  Statement(database, "INSERT OR REPLACE INTO baseline_reports (session, library, report_json) VALUES (?1, ?2, ?3)")
      .bind(session, baseline.library, nlohmann::json(baseline).dump())
      .run();
  transaction.commit();
}

void save_trial(Database& database, RowId session, const TrialRow& trial) {
  Transaction transaction(database, TransactionKind::kWrite);
  const RowId variant = variant_row(database, session, trial.variant);
  std::optional<RowId> build;
  if (trial.build) {
    build = build_row(database, *trial.build);
  }
  const TrialReport& report = trial.report;
  const CheckColumns check = check_columns(report.check);
  const RowId row =
      insert_row(database,
                 "INSERT INTO trials (session, variant, build, outcome, cut, max_error, norm_error, recorded_at)"
                 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id",
                 session, variant, build, outcome_row(database, report.outcome), report.cut, check.max_error,
                 check.norm_error, unix_time_ms());
  Statement insert_sample(database, sample_columns().insert_into("samples", {"trial", "ordinal", "stage"}));
  int ordinal = 0;
  for (const Sample& sample : report.samples) {
    insert_sample.bind(row, ordinal++, stage_row(database, sample.stage), sample_columns().of(sample)).run();
  }
  transaction.commit();
}

void finish_session(Database& database, RowId session, const std::optional<BestRow>& best) {
  Transaction transaction(database, TransactionKind::kWrite);
  end_session(database, session);
  if (best) {
    const RowId template_id = template_of_variant(database, session, best->variant_origin);
    Statement(database,
              "INSERT OR REPLACE INTO best (session, variant, time_s, tflops, ratio, ratio_low, ratio_high,"
              " baseline_first_s, baseline_best_s, complete, answer_json)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")
        .bind(session, known_variant(database, template_id, best->variant_key), best->time_s, best->tflops, best->ratio,
              best->ratio_low, best->ratio_high, best->baseline_first_s, best->baseline_best_s, best->complete,
              best->answer_json)
        .run();
  }
  transaction.commit();
}

namespace {

constexpr std::int64_t kLargestTimeMs = (std::int64_t{1} << 48) - 1;

std::string uuid_text(std::int64_t time_ms, std::uint64_t high, std::uint64_t low) {
  const auto time = static_cast<std::uint64_t>(std::clamp(time_ms, std::int64_t{0}, kLargestTimeMs));
  constexpr std::uint64_t kVariant = 0x8000;
  std::array<char, sizeof "00000000-0000-7000-8000-000000000000"> text{};
  std::snprintf(text.data(), text.size(), "%08llx-%04llx-7%03llx-%04llx-%012llx",
                static_cast<unsigned long long>(time >> 16), static_cast<unsigned long long>(time & 0xffff),
                static_cast<unsigned long long>(high & 0xfff),
                static_cast<unsigned long long>(kVariant | (low >> 48 & 0x3fff)),
                static_cast<unsigned long long>(low & 0xffffffffffff));
  return text.data();
}

}  // namespace

std::int64_t uid_time_ms(const std::string& uid) {
  std::string digits = uid.substr(0, 13);
  std::erase(digits, '-');
  std::int64_t time_ms = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), time_ms, 16);
  return time_ms;
}

std::string next_session_uid(const Database& database) {
  const std::string last = query_text(database, "SELECT max(uid) FROM sessions");
  std::array<std::uint64_t, 2> random{};
  sqlite3_randomness(sizeof random, random.data());
  const std::int64_t time_ms = last.empty() ? unix_time_ms() : std::max(unix_time_ms(), uid_time_ms(last) + 1);
  return uuid_text(time_ms, random[0], random[1]);
}

}  // namespace pgtune::db

// SPDX-License-Identifier: MIT
// Reading queries. "Newest" means the highest id: rows are numbered in the order of writing.
#include <algorithm>

#include "db/queries/queries.hpp"
#include "db/queries/records.hpp"
#include "db/queries/row_lookup.hpp"
#include "db/queries/stored_records.hpp"
#include "db/sqlite/statement.hpp"

namespace pgtune::db {
namespace {

/// Variants of the template in sessions under a ResultKey bound to ?1 to ?8. Sessions over further templates count too.
constexpr std::string_view kUnderKey =
    " WHERE device_class = ?1 AND problem_key = ?2 AND templates.name = ?3 AND templates.content_hash = ?4"
    " AND (source <> 'gpu') = ?5 AND conditions_key = ?6 AND (?7 IS NULL OR device_uuid = ?7) AND kind = ?8 ";

template <typename... More>
void bind_key(Statement& statement, const ResultKey& key, const More&... more) {
  statement.bind(key.device_class, key.problem_key, key.template_name, key.template_hash, key.recorded,
                 key.conditions_key, key.only_board, more...);
}

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const auto part : parts) {
    text += part;
  }
  return text;
}

/// Begins a statement: `newest`, the newest trial of each variant under kUnderKey, and its board.
std::string newest_trials() {
  return concat(
      {"WITH newest AS ("
       " SELECT max(trials.id) AS trial, device_uuid AS board"
       " FROM session_keys JOIN trials ON trials.session = session_keys.session"
       " JOIN variants ON variants.id = trials.variant JOIN templates ON templates.id = variants.template",
       kUnderKey, "GROUP BY trials.variant) "});
}

TrialRow read_trial(Statement& statement) {
  TrialRow trial;
  std::string kind;
  std::optional<double> max_error, norm_error;
  statement >> trial.variant.key >> trial.variant.parameters_json >> kind >> trial.report.outcome.reason >>
      trial.report.cut >> max_error >> norm_error;
  trial.report.outcome.kind = known_word<OutcomeKind>(kind, "outcome");
  if (max_error && norm_error) {
    trial.report.check = CheckReport{*max_error, *norm_error};
  }
  if (!statement.next_is_null()) {
    build_columns().read(statement, trial.build.emplace());
    require_valid(*trial.build);
  }
  return trial;
}

constexpr std::string_view kBestColumns =
    "best.session, keys.device_uuid, keys.device_class, devices.name, devices.architecture, keys.problem_key, "
    "keys.template_name,"
    " keys.template_hash, keys.source <> 'gpu', keys.kind, sessions.finished_at, keys.driver_branch, "
    "keys.conditions_key,"
    " problems.problem_json, devices.info_json, variants.key, variants.parameters_json,"
    " winners.name, winners.content_hash, best.time_s, best.tflops,"
    " best.ratio, best.ratio_low, best.ratio_high, best.baseline_first_s, best.baseline_best_s, best.complete,"
    " best.answer_json";

/// The tables of kBestColumns, apart from session_keys AS keys.
constexpr std::string_view kBestJoins =
    " JOIN sessions ON sessions.id = best.session JOIN devices ON devices.id = keys.device"
    " JOIN problems ON problems.id = keys.problem JOIN variants ON variants.id = best.variant"
    " JOIN templates AS winners ON winners.id = variants.template ";

std::vector<BestRow> read_best(Statement& statement) {
  std::vector<BestRow> rows;
  while (statement.step()) {
    auto& best = rows.emplace_back();
    statement >> best.session >> best.device_uuid >> best.device_class >> best.device_name >> best.architecture >>
        best.problem_key >> best.template_name >> best.template_hash >> best.recorded >> best.kind >>
        best.finished_at >> best.driver_branch >> best.conditions_key >> best.problem_json >> best.device_json >>
        best.variant_key >> best.parameters_json >> best.variant_origin.name >> best.variant_origin.content_hash >>
        best.time_s >> best.tflops >> best.ratio >> best.ratio_low >> best.ratio_high >> best.baseline_first_s >>
        best.baseline_best_s >> best.complete >> best.answer_json;
  }
  return rows;
}

}  // namespace

ResultKey key_of(const BestRow& best) {
  return {best.device_class, best.problem_key,    best.template_name, best.template_hash,
          best.recorded,     best.conditions_key, best.device_uuid};
}

std::optional<BestRow> find_best(const Database& database, const ResultKey& key) {
  auto rows = list_best(database, {.problem_key = key.problem_key,
                                   .device_class = key.device_class,
                                   .device_uuid = key.only_board,
                                   .template_name = key.template_name,
                                   .template_hash = key.template_hash,
                                   .conditions_key = key.conditions_key,
                                   .recorded = key.recorded});
  if (rows.empty()) {
    return std::nullopt;
  }
  return std::move(rows.front());
}

std::vector<BestRow> list_best(const Database& database, const BestFilter& filter) {
  Statement statement(
      database,
      concat({"WITH newest AS ("
              " SELECT max(best.session) AS session FROM best JOIN session_keys ON session_keys.session = best.session"
              " WHERE (?1 IS NULL OR problem_key = ?1) AND (?2 IS NULL OR device_uuid = ?2)"
              "  AND (?3 IS NULL OR template_name = ?3) AND (?4 IS NULL OR template_hash = ?4)"
              "  AND (?5 IS NULL OR (source <> 'gpu') = ?5) AND (?6 IS NULL OR device_class = ?6)"
              "  AND (?7 IS NULL OR conditions_key = ?7) AND kind = ?8"
              " GROUP BY problem_key, hardware, iif(?10, device_uuid, ''), template_name, template_hash, source,"
              "  conditions_key)"
              "SELECT ",
              kBestColumns,
              " FROM newest JOIN best ON best.session = newest.session"
              " JOIN session_keys AS keys ON keys.session = best.session",
              kBestJoins,
              "WHERE ?9 IS NULL OR winners.name = ?9 "
              "ORDER BY problems.m, problems.n, problems.k, problems.key, best.session DESC"}));
  statement.bind(filter.problem_key, filter.device_uuid, filter.template_name, filter.template_hash, filter.recorded,
                 filter.device_class, filter.conditions_key, filter.kind, filter.winner_template, filter.each_board);
  return read_best(statement);
}

std::vector<BestRow> list_answers(const Database& database, const ResultKey& key) {
  Statement statement(
      database, concat({"SELECT ", kBestColumns, " FROM best JOIN session_keys AS keys ON keys.session = best.session",
                        kBestJoins,
                        "WHERE keys.device_class = ?1 AND keys.problem_key = ?2 AND keys.template_name = ?3"
                        " AND keys.template_hash = ?4 AND (keys.source <> 'gpu') = ?5 AND keys.conditions_key = ?6"
                        " AND (?7 IS NULL OR keys.device_uuid = ?7)"
                        " ORDER BY best.session DESC"}));
  bind_key(statement, key);
  return read_best(statement);
}

std::map<std::string, TrialRow> find_trials(const Database& database, const ResultKey& key) {
  Transaction transaction(database, TransactionKind::kRead);
  std::map<std::string, TrialRow> trials;
  std::map<RowId, TrialRow*> by_id;
  Statement select_trials(
      database,
      concat({newest_trials(),
              "SELECT trials.id, board, variants.key, parameters_json, kind, reason, cut, max_error, norm_error, ",
              build_columns().list(),
              " FROM newest JOIN trials ON trials.id = newest.trial"
              " JOIN variants ON variants.id = trials.variant JOIN outcomes ON outcomes.id = trials.outcome"
              " LEFT JOIN builds ON builds.id = trials.build"}));
  bind_key(select_trials, key, key.kind);
  while (select_trials.step()) {
    RowId id = 0;
    std::string board;
    select_trials >> id >> board;
    TrialRow trial = read_trial(select_trials);
    trial.device_uuid = std::move(board);
    trial.variant.origin = {key.template_name, key.template_hash};
    std::string variant_key = trial.variant.key;
    by_id[id] = &trials.insert_or_assign(std::move(variant_key), std::move(trial)).first->second;
  }
  Statement select_samples(database, concat({newest_trials(), "SELECT samples.trial, ", selected_sample_columns(),
                                             " FROM newest JOIN samples ON samples.trial = newest.trial"
                                             " JOIN stages ON stages.id = samples.stage "
                                             "ORDER BY samples.trial, ordinal"}));
  bind_key(select_samples, key, key.kind);
  while (select_samples.step()) {
    RowId id = 0;
    select_samples >> id;
    const auto trial = by_id.find(id);
    if (trial == by_id.end()) {
      throw Error("database " + database.origin() +
                      " is damaged: an index disagrees with its table. Restore it from a "
                      "copy, or move it aside and search again",
                  0);
    }
    trial->second->report.samples.push_back(read_sample(select_samples));
  }
  transaction.commit();
  return trials;
}

std::map<std::string, Sample> find_raced(const Database& database, const ResultKey& key) {
  Statement statement(
      database,
      concat({"SELECT variants.key, ", selected_sample_columns(),
              " FROM session_keys JOIN contenders ON contenders.session = session_keys.session"
              " JOIN variants ON variants.id = contenders.variant JOIN templates ON templates.id = variants.template"
              " JOIN round_samples ON round_samples.contender = contenders.id"
              " JOIN stages ON stages.id = round_samples.stage",
              kUnderKey, "AND stages.name = ?9 ORDER BY contenders.session, round, position"}));
  bind_key(statement, key, key.kind, Stage::kRace);
  std::map<std::string, Sample> samples;
  while (statement.step()) {
    std::string variant_key;
    statement >> variant_key;
    samples.insert_or_assign(std::move(variant_key), read_sample(statement));
  }
  return samples;
}

void for_each_history(const Database& database, const std::vector<RowId>& sessions,
                      const std::function<void(RowId, std::vector<PastTrialRow>)>& take) {
  // CROSS JOIN fixes the order in which SQLite goes through the tables: from the session to its trials, by indices.
  constexpr std::string_view kHistory =
      "WITH tried AS ("
      " SELECT variants.template AS template FROM trials JOIN variants ON variants.id = trials.variant"
      " WHERE trials.session = ?1"
      " UNION SELECT variants.template FROM contenders JOIN variants ON variants.id = contenders.variant"
      " WHERE contenders.session = ?1"
      "), newest AS ("
      " SELECT max(trials.id) AS trial FROM sessions AS answered"
      " CROSS JOIN sessions AS earlier ON earlier.problem = answered.problem AND earlier.device = answered.device"
      "  AND earlier.conditions = answered.conditions AND earlier.source = answered.source"
      "  AND earlier.kind = 'search' AND earlier.id <= answered.id"
      " CROSS JOIN trials ON trials.session = earlier.id CROSS JOIN variants ON variants.id = trials.variant"
      " WHERE answered.id = ?1 AND variants.template IN (SELECT template FROM tried)"
      " GROUP BY trials.variant) ";
  Transaction transaction(database, TransactionKind::kRead);
  Statement select_trials(
      database,
      concat({kHistory,
              "SELECT trials.id, recorded_at, templates.name, templates.content_hash,"
              " variants.key, parameters_json, kind, reason, cut, max_error, norm_error, ",
              build_columns().list(),
              " FROM newest CROSS JOIN trials ON trials.id = newest.trial"
              " JOIN variants ON variants.id = trials.variant JOIN templates ON templates.id = variants.template"
              " JOIN outcomes ON outcomes.id = trials.outcome LEFT JOIN builds ON builds.id = trials.build"
              " ORDER BY trials.id"}));
  Statement select_samples(database, concat({"SELECT ", selected_sample_columns(),
                                             " FROM samples JOIN stages ON stages.id = samples.stage WHERE trial = ?1"
                                             " ORDER BY ordinal"}));
  for (const RowId session : sessions) {
    std::vector<PastTrialRow> rows;
    select_trials.bind(session);
    while (select_trials.step()) {
      RowId id = 0;
      PastTrialRow& row = rows.emplace_back();
      TemplateRow origin;
      select_trials >> id >> row.recorded_at_ms >> origin.name >> origin.content_hash;
      row.trial = read_trial(select_trials);
      row.trial.variant.origin = std::move(origin);
      select_samples.bind(id);
      while (select_samples.step()) row.trial.report.samples.push_back(read_sample(select_samples));
    }
    take(session, std::move(rows));
  }
  transaction.commit();
}

std::map<RowId, Program> session_programs(const Database& database) {
  Statement statement(database,
                      "SELECT sessions.id, pgtune_version, host_os FROM sessions"
                      " JOIN environments ON environments.id = sessions.environment");
  std::map<RowId, Program> programs;
  while (statement.step()) {
    RowId session = 0;
    Program program;
    statement >> session >> program.version >> program.host_os;
    programs.insert_or_assign(session, std::move(program));
  }
  return programs;
}

std::map<std::string, TrialRow> find_trials_for(const Database& database, const ResultKey& key,
                                                const std::string& uuid) {
  auto trials = find_trials(database, key);
  const auto is_right = [](const TrialRow& trial) { return trial.report.outcome.kind == OutcomeKind::kOk; };
  const auto is_others = [&](const TrialRow& trial) { return trial.device_uuid != uuid && is_right(trial); };
  if (std::none_of(trials.begin(), trials.end(), [&](const auto& entry) { return is_others(entry.second); })) {
    return trials;
  }
  ResultKey own_key = key;
  own_key.only_board = uuid;
  for (auto& [variant, own] : find_trials(database, own_key)) {
    if (TrialRow& newest = trials.at(variant); is_others(newest) && is_right(own)) {
      newest = std::move(own);
    }
  }
  return trials;
}

std::vector<SessionRow> list_sessions(const Database& database) {
  Statement statement(
      database,
      "SELECT sessions.id, uid, device_uuid, device_class, hardware, problem_key, template_name, template_hash, "
      "driver_branch,"
      " conditions_key, session_keys.kind, sessions.source <> 'gpu', started_at, finished_at, seed, command_line "
      "FROM sessions JOIN session_keys ON session_keys.session = sessions.id ORDER BY sessions.id DESC");
  std::vector<SessionRow> rows;
  while (statement.step()) {
    auto& row = rows.emplace_back();
    statement >> row.id >> row.uid >> row.device_uuid >> row.device_class >> row.hardware >> row.problem_key >>
        row.template_name >> row.template_hash >> row.driver_branch >> row.conditions_key >> row.kind >> row.recorded >>
        row.started_at >> row.finished_at >> row.seed >> row.command_line;
  }
  return rows;
}

std::map<RowId, std::vector<TemplateRow>> tried_templates(const Database& database) {
  Statement statement(database,
                      "SELECT tried.session, name, content_hash FROM (SELECT trials.session, variants.template"
                      " FROM trials JOIN variants ON variants.id = trials.variant"
                      " UNION SELECT contenders.session, variants.template"
                      " FROM contenders JOIN variants ON variants.id = contenders.variant) AS tried"
                      " JOIN templates ON templates.id = tried.template ORDER BY tried.session, name, content_hash");
  std::map<RowId, std::vector<TemplateRow>> templates;
  while (statement.step()) {
    RowId session = 0;
    TemplateRow row;
    statement >> session >> row.name >> row.content_hash;
    templates[session].push_back(std::move(row));
  }
  return templates;
}

std::optional<BaselineReport> find_baseline(const Database& database, RowId session) {
  return find_record<BaselineReport>(database, "SELECT report_json FROM baseline_reports WHERE session = ?1",
                                     "a baseline", session);
}

std::optional<Problem> find_problem(const Database& database, const std::string& key) {
  return find_record<Problem>(database, "SELECT problem_json FROM problems WHERE key = ?1", "a problem", key);
}

Totals totals(const Database& database) {
  Transaction transaction(database, TransactionKind::kRead);
  Totals result;
  Statement tables(database,
                   "SELECT name, printf('SELECT count(*) FROM \"%w\"', name) FROM sqlite_schema"
                   " WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' ORDER BY name");
  while (tables.step()) {
    std::string name, count;
    tables >> name >> count;
    result.rows[name] = query_integer(database, count);
  }
  Statement outcomes(database,
                     "WITH newest AS ("
                     " SELECT max(trials.id) AS trial FROM trials"
                     " JOIN session_keys ON session_keys.session = trials.session"
                     " GROUP BY device_class, session_keys.problem, source, session_keys.conditions,"
                     "  trials.variant)"
                     "SELECT kind, count(*) FROM newest JOIN trials ON trials.id = newest.trial"
                     " JOIN outcomes ON outcomes.id = trials.outcome GROUP BY kind");
  while (outcomes.step()) {
    std::string kind;
    outcomes >> kind;
    outcomes >> result.outcomes[kind];
  }
  transaction.commit();
  return result;
}

}  // namespace pgtune::db

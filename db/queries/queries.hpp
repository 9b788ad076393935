// SPDX-License-Identifier: MIT
// Reads from and writes to a database. All functions throw db::Error.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/database.hpp"
#include "db/queries/records.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/model/fatal_trial.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::db {

/// The key of a trial or answer: results are reused only if all of this matches.
struct ResultKey {
  std::string device_class;  ///< DeviceClass::text()
  std::string problem_key, template_name, template_hash;
  bool recorded = false;
  std::string conditions_key;
  std::optional<std::string> only_board = {};  ///< UUID: results of the class's other boards are excluded
  std::string kind = "search";                 ///< of the sessions whose trials count
};

/// The key under which a result is stored, for its board alone.
[[nodiscard]] ResultKey key_of(const BestRow& best);

// Writing. Each call is one transaction.

/// Opens a session; device, environment, problem, template and conditions rows are created or found.
[[nodiscard]] RowId begin_session(Database& database, const DeviceInfo& device, const Program& program,
                                  const Problem& problem, const TemplateRow& template_row, const SessionRow& session);
void save_baseline(Database& database, RowId session, const BaselineReport& baseline);
/// Inserts the variant's outcome, build and samples. A second trial of the same variant under the same ResultKey adds a
/// newer row: readers take the newest.
void save_trial(Database& database, RowId session, const TrialRow& trial);
/// Samples of every contender of one stage of rounds; the stage in the samples is ignored. A second call for the
/// session and stage replaces the first.
void save_rounds(Database& database, RowId session, Stage stage, const std::vector<ContenderSamplesRow>& contenders);
/// A second energy window of the same contender and ordinal replaces the first.
void save_energy(Database& database, RowId session, const EnergyWindowRow& window);
/// Device and environment rows are created or found.
void save_ceilings(Database& database, const DeviceInfo& device, const Program& program, const Ceilings& ceilings);
/// Device, environment, problem, conditions and variant rows are created or found.
void save_counters(Database& database, const DeviceInfo& device, const Program& program, const Problem& problem,
                   const Conditions& conditions, const CountersRow& counters);
/// Stamps finished_at and stores the best (absent: nothing valid).
void finish_session(Database& database, RowId session, const std::optional<BestRow>& best);
/// The template of a session that holds a family: its name tells families of one problem apart.
[[nodiscard]] TemplateRow family_template(const Family& family, const std::string& content_hash);
/// Stamps finished_at of a session of kind "family" and stores the family, which is valid. Its problem and conditions
/// are the session's. Variant rows are created or found.
void finish_family(Database& database, RowId session, const Family& family);

// Reading.

/// The best of the newest finished search that has one for the key.
[[nodiscard]] std::optional<BestRow> find_best(const Database& database, const ResultKey& key);
/// Newest best per (problem, device class but for the driver branch, template content, whether recorded, conditions) of
/// sessions of the filter's kind, newest first within problem order m, n, k.
[[nodiscard]] std::vector<BestRow> list_best(const Database& database, const BestFilter& filter);
/// The families of finished sessions, newest first; of one question the newest alone. A question is the problem, range,
/// device class but for the driver branch, template content, whether recorded, conditions, and whether one order adds.
[[nodiscard]] std::vector<FamilyRow> list_families(const Database& database, const FamilyFilter& filter);
/// All finished searches and benches for the key that have a best, newest first.
[[nodiscard]] std::vector<BestRow> list_answers(const Database& database, const ResultKey& key);
/// The newest trial of each variant of the key's template, with that trial's screening samples, by variant key.
/// Includes all sessions of the key's kind under the rest of the key, over this template or several, on any board
/// (TrialRow names it).
[[nodiscard]] std::map<std::string, TrialRow> find_trials(const Database& database, const ResultKey& key);
/// Each variant's newest sample of a race, by variant key; of the sessions that find_trials() includes.
[[nodiscard]] std::map<std::string, Sample> find_raced(const Database& database, const ResultKey& key);
/// Trials that crashed or hung on real GPUs of an architecture, unless a later trial of the same variant, problem and
/// software contradicts them. Software is the driver's version for built variants, NVRTC's for others.
[[nodiscard]] std::vector<FatalTrial> find_fatal_trials(const Database& database, const std::string& architecture,
                                                        const std::string& driver_version,
                                                        const std::string& nvrtc_version);
/// The trials that a search on the board `uuid` reuses under a key that names no board: the newest of each variant. If
/// that one was right and ran on another board, this board's own newest is taken instead, provided that it was right
/// too: boards differ in times, but not in outcomes.
[[nodiscard]] std::map<std::string, TrialRow> find_trials_for(const Database& database, const ResultKey& key,
                                                              const std::string& uuid);
/// The device as its newest session described it.
[[nodiscard]] std::optional<DeviceInfo> find_device(const Database& database, const std::string& uuid);
/// The device as this session found it.
[[nodiscard]] std::optional<DeviceInfo> find_session_device(const Database& database, RowId session);
/// Newest first.
[[nodiscard]] std::vector<SessionRow> list_sessions(const Database& database);
/// Calls `take` for each session with the trials that its search used, in the order of trying. These are the newest
/// trial of each variant, with its screening samples, from this session and from earlier searches that match it.
/// Earlier searches match if problem, board, board state, conditions and template contents are the same.
void for_each_history(const Database& database, const std::vector<RowId>& sessions,
                      const std::function<void(RowId, std::vector<PastTrialRow>)>& take);
/// The program and system that measured in each session.
[[nodiscard]] std::map<RowId, Program> session_programs(const Database& database);
/// By session: the templates of variants that it tried, or measured in rounds after an earlier session had tried them.
[[nodiscard]] std::map<RowId, std::vector<TemplateRow>> tried_templates(const Database& database);
[[nodiscard]] std::optional<BaselineReport> find_baseline(const Database& database, RowId session);
/// Samples of all stages of rounds of one session, in order of stage, round and position.
[[nodiscard]] std::vector<ContenderSamplesRow> session_rounds(const Database& database, RowId session);
/// The same for one or two stages of several sessions; faster than one by one.
void for_each_rounds(const Database& database, const std::vector<RowId>& sessions, std::pair<Stage, Stage> stages,
                     const std::function<void(RowId, std::vector<ContenderSamplesRow>)>& take);
/// Ordered by contender and ordinal.
[[nodiscard]] std::vector<EnergyWindowRow> energy_windows(const Database& database, RowId session);
/// The newest ceilings of this board in its class: another power limit means other ceilings. `recorded`: those that
/// store_recorded() copied count, too, if there are no others.
[[nodiscard]] std::optional<Ceilings> find_ceilings(const Database& database, const DeviceInfo& device,
                                                    bool recorded = false);
/// The newest counters of every contender on the problem under the conditions, on any board of the device's class.
[[nodiscard]] std::vector<CountersRow> find_counters(const Database& database, const DeviceInfo& device,
                                                     const std::string& problem_key, const std::string& conditions_key);
[[nodiscard]] std::optional<Problem> find_problem(const Database& database, const std::string& key);
[[nodiscard]] Totals totals(const Database& database);

// Session names that stay the same in every copy and merged file.

/// A UUID of version 7 (RFC 9562): 48 bits of Unix time in milliseconds, then random bits. Its time is later than that
/// of every session in the database, even if the clock was set back. Inside one file uids therefore sort by the
/// sessions' start. Call it inside the write transaction that inserts the session. Throws Error.
[[nodiscard]] std::string next_session_uid(const Database& database);

/// The time in a uid: its first 48 bits.
[[nodiscard]] std::int64_t uid_time_ms(const std::string& uid);

}  // namespace pgtune::db

// SPDX-License-Identifier: MIT
// What pgtune asks of and writes to a database. All functions throw db::Error.
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

/// What a trial or answer is looked up by: results are reused only where all of this matches.
struct ResultKey {
  std::string device_class;  ///< DeviceClass::text()
  std::string problem_key, template_name, template_hash;
  bool recorded = false;
  std::string conditions_key;
  std::optional<std::string> only_board = {};  ///< UUID: nothing of the class's other boards
};

/// The key under which a result is stored, of its board alone.
[[nodiscard]] ResultKey key_of(const BestRow& best);

// Writing. Each call is one transaction.

/// Opens a session; device, environment, problem, template and conditions rows are created or found.
[[nodiscard]] RowId begin_session(Database& database, const DeviceInfo& device, const Program& program,
                                  const Problem& problem, const TemplateRow& template_row, const SessionRow& session);
void save_baseline(Database& database, RowId session, const BaselineReport& baseline);
/// Inserts the variant's outcome, build and samples. A second trial of the same variant under the same ResultKey adds a
/// newer row: readers take the newest.
void save_trial(Database& database, RowId session, const TrialRow& trial);
/// Samples of every contender of one stage of rounds, whatever stage the samples name. A second call for the session
/// and stage replaces the first.
void save_rounds(Database& database, RowId session, Stage stage, const std::vector<ContenderSamplesRow>& contenders);
/// A second window of the same contender and ordinal replaces the first.
void save_energy(Database& database, RowId session, const EnergyWindowRow& window);
/// Device and environment rows are created or found.
void save_ceilings(Database& database, const DeviceInfo& device, const Program& program, const Ceilings& ceilings);
/// Device, environment, problem, conditions and variant rows are created or found.
void save_counters(Database& database, const DeviceInfo& device, const Program& program, const Problem& problem,
                   const Conditions& conditions, const CountersRow& counters);
/// Stamps finished_at and stores the best (absent: nothing valid).
void finish_session(Database& database, RowId session, const std::optional<BestRow>& best);

// Reading.

/// The best of the newest finished search that has one for the key.
[[nodiscard]] std::optional<BestRow> find_best(const Database& database, const ResultKey& key);
/// Newest best per (problem, device class but for the driver branch, template content, whether recorded, conditions) of
/// sessions of the filter's kind, newest first within problem order m, n, k.
[[nodiscard]] std::vector<BestRow> list_best(const Database& database, const BestFilter& filter);
/// All finished benches for the key that have a best, newest first.
[[nodiscard]] std::vector<BestRow> list_benches(const Database& database, const ResultKey& key);
/// Newest trial of each variant of the key's template, with screening samples of that trial, by variant key; in
/// searches under the rest of the key, over this template or over several. Whatever board they ran on: TrialRow says.
[[nodiscard]] std::map<std::string, TrialRow> find_trials(const Database& database, const ResultKey& key);
/// Trials on real GPUs of an architecture that crashed or hung and that no later one of the same variant, problem and
/// software contradicts. Software is the driver's version for what was built, NVRTC's for what was not.
[[nodiscard]] std::vector<FatalTrial> find_fatal_trials(const Database& database, const std::string& architecture,
                                                        const std::string& driver_version,
                                                        const std::string& nvrtc_version);
/// What a search on the board `uuid` has of the trials under a key, which names no board: the newest of each variant;
/// but where that was right and ran on another board, this board's own newest if that was right too, because times
/// differ from board to board, and what becomes of a variant does not.
[[nodiscard]] std::map<std::string, TrialRow> find_trials_for(const Database& database, const ResultKey& key,
                                                              const std::string& uuid);
/// As its newest session described it.
[[nodiscard]] std::optional<DeviceInfo> find_device(const Database& database, const std::string& uuid);
/// The device as this session found it.
[[nodiscard]] std::optional<DeviceInfo> find_session_device(const Database& database, RowId session);
/// Newest first.
[[nodiscard]] std::vector<SessionRow> list_sessions(const Database& database);
/// Calls `take` for each session with what its search went through, in the order in which it was tried: the newest
/// trial of each variant, with its screening samples, of this session and of earlier searches of the same problem in
/// the same state of the same board, under the same conditions and over the same contents of templates.
void for_each_history(const Database& database, const std::vector<RowId>& sessions,
                      const std::function<void(RowId, std::vector<PastTrialRow>)>& take);
/// What measured in each session.
[[nodiscard]] std::map<RowId, Program> session_programs(const Database& database);
/// The templates whose variants a session tried, or measured in rounds after an earlier one had tried them, by session.
[[nodiscard]] std::map<RowId, std::vector<TemplateRow>> tried_templates(const Database& database);
[[nodiscard]] std::optional<BaselineReport> find_baseline(const Database& database, RowId session);
/// Samples of all stages of rounds of one session, in order of stage, round and position.
[[nodiscard]] std::vector<ContenderSamplesRow> session_rounds(const Database& database, RowId session);
/// The same of one or two stages of several sessions, sooner than one by one.
void for_each_rounds(const Database& database, const std::vector<RowId>& sessions, std::pair<Stage, Stage> stages,
                     const std::function<void(RowId, std::vector<ContenderSamplesRow>)>& take);
/// In order of contender and ordinal.
[[nodiscard]] std::vector<EnergyWindowRow> energy_windows(const Database& database, RowId session);
/// The newest of this very board in its class: under another power limit it reaches something else.
[[nodiscard]] std::optional<Ceilings> find_ceilings(const Database& database, const DeviceInfo& device);
/// The newest of every contender on the problem under the conditions, on whatever board of the device's class.
[[nodiscard]] std::vector<CountersRow> find_counters(const Database& database, const DeviceInfo& device,
                                                     const std::string& problem_key, const std::string& conditions_key);
[[nodiscard]] std::optional<Problem> find_problem(const Database& database, const std::string& key);
[[nodiscard]] Totals totals(const Database& database);

// Names of sessions that stay theirs in every copy and merged file.

/// A UUID of version 7 (RFC 9562): 48 bits of Unix time in milliseconds, then random bits. Its time is later than that
/// of every session in the database even where the clock was set back, so that inside one file the order of uids is the
/// order in which sessions began. For use inside the write transaction that inserts the session. Throws Error.
[[nodiscard]] std::string next_session_uid(const Database& database);

/// The time in a uid: its first 48 bits.
[[nodiscard]] std::int64_t uid_time_ms(const std::string& uid);

}  // namespace pgtune::db

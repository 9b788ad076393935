// SPDX-License-Identifier: MIT
#include "tool/pgtune/recording_loader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "db/queries.hpp"
#include "pgtune_recordings.hpp"
#include "tool/pgtune/command_error.hpp"
#include "tool/pgtune/row_conversion.hpp"

namespace pgtune::tool {
namespace {

constexpr std::size_t kProblemsShown = 8;

/// Sessions worth replaying: finished, measured on a GPU; newest first.
std::vector<db::SessionRow> replayable_sessions(const db::Database& database) {
  std::vector<db::SessionRow> sessions;
  for (db::SessionRow& row : db::list_sessions(database)) {
    if (row.source == "gpu" && !row.finished_at.empty()) sessions.push_back(std::move(row));
  }
  std::sort(sessions.begin(), sessions.end(), [](const db::SessionRow& a, const db::SessionRow& b) {
    return std::pair(a.finished_at, a.id) > std::pair(b.finished_at, b.id);
  });
  if (sessions.empty())
    throw CommandError(
        ErrorKind::kEnvironment,
        fmt::format("{} holds no finished search from a GPU. Record one with 'pgtune search --db FILE' on "
                    "a machine with a GPU.",
                    database.origin()));
  return sessions;
}

[[noreturn]] void fail_unrecorded(const db::Database& database, const space::TemplateDefinition& definition,
                                  const Problem& problem, const std::vector<db::SessionRow>& sessions) {
  bool same_name = false;
  for (const db::SessionRow& row : sessions) same_name = same_name || row.template_name == definition.name;
  std::vector<std::string> known = recorded_problems(database, definition);
  if (known.empty()) {
    throw CommandError(
        ErrorKind::kEnvironment,
        same_name
            ? fmt::format("{} was made with another version of template '{}' than this build's ({}). Search on a GPU, "
                          "or replay with the pgtune it was made with.",
                          database.origin(), definition.name, definition.content_hash.substr(0, 8))
            : fmt::format("{} holds nothing of template '{}'. Search on a GPU.", database.origin(), definition.name));
  }
  const std::size_t more = known.size() > kProblemsShown ? known.size() - kProblemsShown : 0;
  known.resize(known.size() - more);
  throw CommandError(
      ErrorKind::kEnvironment,
      fmt::format("{} does not hold {}. It holds: {}{}. Choose one of these, or search on a GPU.", database.origin(),
                  problem.title(), fmt::join(known, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
}

device::RecordedReference recorded_reference(const db::Database& database, db::RowId session) {
  device::RecordedReference recorded;
  if (const auto row = db::find_reference(database, session)) recorded.report = reference_report(*row);
  for (const db::ReferenceBlocksRow& row : db::reference_blocks(database, session))
    recorded.final_blocks[row.algorithm] = blocks(row.blocks);
  return recorded;
}

device::RecordedProblem recorded_problem(const db::Database& database, const db::SessionRow& session,
                                         const Problem& problem) {
  device::RecordedProblem recorded;
  recorded.problem = problem;
  recorded.reference = recorded_reference(database, session.id);
  const db::ResultKey key{session.device_uuid,   session.driver_branch, session.problem_key,
                          session.template_name, session.template_hash, session.source};
  const std::string prefix = session.template_name + "/";
  for (const auto& [variant_key, row] : db::find_trials(database, key)) {
    session::StoredTrial trial = stored_trial(row);
    recorded.variants[prefix + variant_key] = {std::move(trial.report), std::move(trial.build), {}};
  }
  for (const auto& [variant_key, rows] : db::final_blocks(database, session.id)) {
    if (const auto found = recorded.variants.find(prefix + variant_key); found != recorded.variants.end())
      found->second.final_blocks = blocks(rows);
  }
  return recorded;
}

}  // namespace

bool has_built_in_recording() { return !embedded::pgtune_recordings().empty(); }

db::Database open_recording(const std::string& file) {
  if (!file.empty()) return db::Database::open(file, db::OpenMode::kReadOnly);
  if (!has_built_in_recording())
    throw CommandError(ErrorKind::kEnvironment,
                       "this build has no recording. Give one with --device replay:FILE, or search on a GPU.");
  const embedded::File& recording = embedded::pgtune_recordings().front();
  return db::Database::open_image(std::as_bytes(std::span(recording.contents)), "the built-in recording");
}

DeviceInfo recorded_device(const db::Database& database) {
  const std::string uuid = replayable_sessions(database).front().device_uuid;
  for (const db::DeviceRow& row : db::list_devices(database)) {
    if (row.uuid == uuid) return device_info(row);
  }
  throw db::Error(fmt::format("{}: a session names a device that is not there. Check the file with 'pgtune db check'.",
                              database.origin()),
                  0);
}

std::vector<std::string> recorded_problems(const db::Database& database, const space::TemplateDefinition& definition) {
  const std::vector<db::SessionRow> sessions = replayable_sessions(database);
  std::set<std::string> keys;
  for (const db::SessionRow& row : sessions) {
    if (row.device_uuid == sessions.front().device_uuid && row.template_hash == definition.content_hash)
      keys.insert(row.problem_key);
  }
  std::vector<std::string> titles;
  for (const std::string& key : keys) {
    if (const auto row = db::find_problem(database, key)) titles.push_back(problem(*row).title());
  }
  return titles;
}

device::Recording load_recording(const db::Database& database, const space::TemplateDefinition& definition,
                                 const Problem& problem) {
  const std::vector<db::SessionRow> sessions = replayable_sessions(database);
  std::vector<db::SessionRow> fitting;
  for (const db::SessionRow& row : sessions) {
    if (row.device_uuid == sessions.front().device_uuid && row.template_name == definition.name &&
        row.template_hash == definition.content_hash && row.problem_key == problem.key())
      fitting.push_back(row);
  }
  if (fitting.empty()) fail_unrecorded(database, definition, problem, sessions);
  // A session stopped early has no final: an older one with a final says more.
  auto session = std::find_if(fitting.begin(), fitting.end(),
                              [&](const db::SessionRow& row) { return !db::final_blocks(database, row.id).empty(); });
  if (session == fitting.end()) session = fitting.begin();
  device::Recording recording;
  recording.origin = database.origin();
  recording.device = recorded_device(database);
  recording.problems.emplace(problem.key(), recorded_problem(database, *session, problem));
  return recording;
}

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
#include "tool/pgtune/replay/recording_loader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "db/queries/queries.hpp"
#include "pgtune_recordings.hpp"
#include "pgtune_unbiased.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/replay/recorded_problem.hpp"
#include "tool/pgtune/replay/recorded_sessions.hpp"
#include "tuner/device/replay_device.hpp"

namespace pgtune::tool {
namespace {

constexpr std::size_t kProblemsShown = 5;
constexpr const char* kBuiltIn = "the built-in recording";

/// "template 'a'" or "templates 'a', 'b'".
std::string quoted(const space::TemplateSet& templates) {
  std::vector<std::string> names;
  for (const space::TemplateId& id : templates.ids()) names.push_back(id.name);
  return fmt::format("template{} '{}'", names.size() > 1 ? "s" : "", fmt::join(names, "', '"));
}

/// "the built-in recording", or the name of the file; of several, what they have in common.
std::string origin_of(std::span<const db::Database> databases) {
  return databases.size() == 1 ? databases.front().origin() : kBuiltIn;
}

/// What sorts problems by their nearness to `wanted`: those of its dtype first, then those of its layout, then by
/// how many times larger or smaller their M, N, K and batch are, then those that differ in nothing else.
auto distance(const Problem& wanted, const Problem& other) {
  double squares = 0;
  for (const auto extent : {&Problem::m, &Problem::n, &Problem::k, &Problem::batch}) {
    const double times = std::log2(static_cast<double>(other.*extent) / static_cast<double>(wanted.*extent));
    squares += times * times;
  }
  const bool otherwise = wanted.type_of_c() != other.type_of_c() || wanted.epilogue != other.epilogue ||
                         wanted.alpha != other.alpha || wanted.beta != other.beta || wanted.chained != other.chained;
  return std::make_tuple(wanted.dtype != other.dtype, wanted.layout() != other.layout(), squares, otherwise,
                         other.title());
}

/// "A, B and 12 more": the nearest few of `known`.
std::string nearest_text(const Problem& wanted, std::vector<Problem> known) {
  const auto nearer = [&](const Problem& a, const Problem& b) { return distance(wanted, a) < distance(wanted, b); };
  std::sort(known.begin(), known.end(), nearer);
  known.erase(std::unique(known.begin(), known.end()), known.end());  // held by several recordings
  std::vector<std::string> titles;
  for (const Problem& problem : known) {
    if (titles.size() < kProblemsShown) titles.push_back(problem.title());
  }
  const std::size_t more = known.size() - titles.size();
  return fmt::format("{}{}", fmt::join(titles, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

[[noreturn]] void fail_unrecorded(std::span<const db::Database> databases, const space::TemplateSet& templates,
                                  const Problem& problem) {
  std::vector<Problem> known;
  for (const db::Database& database : databases) {
    for (const RecordedSession& session : recorded_sessions(database, problem)) {
      if (tried_any(session, templates))
        throw CommandError(
            ErrorKind::kEnvironment,
            fmt::format("{} was made with another version of {} than this build's ({}). Search on a GPU, or replay "
                        "with the pgtune it was made with.",
                        origin_of(databases), quoted(templates), templates.id().content_hash.substr(0, 8)));
    }
    for (Problem& recorded : recorded_problems(database, templates)) known.push_back(std::move(recorded));
  }
  if (known.empty())
    throw CommandError(ErrorKind::kEnvironment, fmt::format("{} holds nothing of {}. Search on a GPU.",
                                                            origin_of(databases), quoted(templates)));
  throw CommandError(
      ErrorKind::kEnvironment,
      fmt::format("{} does not hold {}. Nearest to it, it holds: {}. Choose one of these, or search on a "
                  "GPU.",
                  origin_of(databases), problem.title(), nearest_text(problem, std::move(known))));
}

/// The sessions of `problem` that tried these templates, all in these versions. Those over exactly these templates come
/// first, each kind newest first.
std::vector<RecordedSession> fitting_sessions(const db::Database& database, const space::TemplateSet& templates,
                                              const Problem& problem) {
  std::vector<RecordedSession> sessions = recorded_sessions(database, problem);
  std::erase_if(sessions, [&](const RecordedSession& session) { return !tried_in_these_versions(session, templates); });
  std::stable_partition(sessions.begin(), sessions.end(), [&](const RecordedSession& session) {
    return space::TemplateId{session.row.template_name, session.row.template_hash} == templates.id();
  });
  return sessions;
}

/// By the conditions it was measured under; of each, those on the first one's board and under its driver.
std::map<std::string, std::vector<db::SessionRow>> by_conditions(std::vector<RecordedSession> sessions) {
  std::map<std::string, std::vector<db::SessionRow>> found;
  for (RecordedSession& session : sessions) {
    std::vector<db::SessionRow>& fitting = found[session.row.conditions_key];
    if (fitting.empty() || (session.row.device_uuid == fitting.front().device_uuid &&
                            session.row.device_class == fitting.front().device_class))
      fitting.push_back(std::move(session.row));
  }
  return found;
}

DeviceInfo device_of(const db::Database& database, const RecordedSession& session) {
  if (auto device = db::find_session_device(database, session.row.id)) return *device;
  throw db::Error(fmt::format("{}: a session names a device that is not there. Restore the file from a copy, "
                              "or record it anew.",
                              database.origin()),
                  0);
}

std::vector<db::Database> open_images(std::span<const embedded::File> files) {
  std::vector<db::Database> databases;
  for (const embedded::File& file : files)
    databases.push_back(db::Database::open_image(std::as_bytes(std::span(file.contents)), kBuiltIn));
  return databases;
}

}  // namespace

bool has_built_in_recording() { return !embedded::pgtune_recordings().empty(); }

std::vector<db::Database> open_recordings(const std::string& file) {
  std::vector<db::Database> databases;
  if (!file.empty()) {
    databases.push_back(db::Database::open(file, db::OpenMode::kReadOnly));
    return databases;
  }
  if (!has_built_in_recording())
    throw CommandError(ErrorKind::kEnvironment,
                       "this build has no recording. Give one with --device replay:FILE, or search on a GPU.");
  return open_images(embedded::pgtune_recordings());
}

std::vector<db::Database> open_unbiased_tables() { return open_images(embedded::pgtune_unbiased()); }

DeviceInfo recorded_device(const db::Database& database) {
  return device_of(database, recorded_sessions(database).front());
}

DeviceInfo recorded_device(const db::Database& database, const space::TemplateSet& templates, const Problem& problem) {
  return device_of(database, fitting_sessions(database, templates, problem).front());
}

std::vector<Problem> recorded_problems(const db::Database& database, const space::TemplateSet& templates) {
  std::set<std::string> keys;
  for (const RecordedSession& session : recorded_sessions(database)) {
    if (tried_any(session, templates)) keys.insert(session.row.problem_key);
  }
  std::vector<Problem> problems;
  for (const std::string& key : keys) {
    if (const auto problem = db::find_problem(database, key)) problems.push_back(*problem);
  }
  return problems;
}

const db::Database* database_holding(std::span<const db::Database> databases, const space::TemplateSet& templates,
                                     const Problem& problem) {
  for (const db::Database& database : databases) {
    const std::vector<RecordedSession> sessions = recorded_sessions(database, problem);
    const bool holds = std::any_of(sessions.begin(), sessions.end(), [&](const RecordedSession& session) {
      return tried_in_these_versions(session, templates);
    });
    if (holds) return &database;
  }
  return nullptr;
}

device::Recording load_recording(std::span<const db::Database> databases, const space::TemplateSet& templates,
                                 const Problem& problem) {
  const db::Database* const database = database_holding(databases, templates, problem);
  if (database == nullptr) fail_unrecorded(databases, templates, problem);
  device::Recording recording;
  recording.origin = database->origin();
  recording.device = recorded_device(*database, templates, problem);
  recording.ceilings = db::find_ceilings(*database, recording.device, Source::kGpu);
  for (const auto& [key, fitting] : by_conditions(fitting_sessions(*database, templates, problem)))
    recording.problems.push_back(recorded_problem(*database, fitting, problem, templates));
  return recording;
}

std::vector<Variant> recorded_variants(std::span<const db::Database> databases, const space::TemplateSet& templates,
                                       const Problem& problem) {
  if (database_holding(databases, templates, problem) == nullptr) return {};
  return device::ReplayDevice(load_recording(databases, templates, problem)).recorded_variants(problem);
}

}  // namespace pgtune::tool

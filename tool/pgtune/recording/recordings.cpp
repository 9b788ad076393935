// SPDX-License-Identifier: MIT
#include "tool/pgtune/recording/recordings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "db/queries/queries.hpp"
#include "pgtune_recordings.hpp"
#include "pgtune_unbiased.hpp"
#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {
namespace {

std::vector<db::Database> open_images(std::span<const embedded::File> files) {
  std::vector<db::Database> databases;
  for (const embedded::File& file : files)
    databases.push_back(db::Database::open_image(std::as_bytes(std::span(file.contents)), "the built-in recording"));
  return databases;
}

DeviceInfo recorded_device(const db::Database& database) {
  for (const db::SessionRow& row : db::list_sessions(database)) {
    if (row.recorded || row.kind != "search" || row.finished_at.empty()) continue;
    if (auto device = db::find_session_device(database, row.id)) return *device;
  }
  throw CommandError(ErrorKind::kEnvironment,
                     fmt::format("{} holds no finished search from a GPU. Record one with 'pgtune search --db FILE' on "
                                 "a machine with a GPU.",
                                 database.origin()));
}

}  // namespace

bool has_built_in_recording() { return !embedded::pgtune_recordings().empty(); }

std::vector<db::Database> open_recordings(const std::string& file) {
  if (!file.empty()) {
    std::vector<db::Database> databases;
    databases.push_back(db::Database::open(file, db::OpenMode::kReadOnly));
    return databases;
  }
  if (!has_built_in_recording())
    throw CommandError(ErrorKind::kEnvironment,
                       "this build has no recording. Give one with --device recording:FILE, or search on a GPU.");
  return open_images(embedded::pgtune_recordings());
}

std::vector<db::Database> open_unbiased_tables() { return open_images(embedded::pgtune_unbiased()); }

DeviceInfo usual_device(const std::vector<db::Database>& recordings) {
  std::map<std::string, std::vector<DeviceInfo>> by_name;
  for (const db::Database& recording : recordings) {
    DeviceInfo own = recorded_device(recording);
    std::string name = own.name;
    by_name[std::move(name)].push_back(std::move(own));
  }
  const auto fewer = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
  return std::max_element(by_name.begin(), by_name.end(), fewer)->second.front();
}

}  // namespace pgtune::tool

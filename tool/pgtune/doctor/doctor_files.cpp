// SPDX-License-Identifier: MIT
#include "tool/pgtune/doctor/doctor_check.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <system_error>

#include "db/database.hpp"
#include "db/sqlite/file_system.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/user_config.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kGiB = std::uintmax_t{1} << 30U;
/// A large search leaves some hundred MiB of cubins.
constexpr std::uintmax_t kEnoughBytes = kGiB;

/// The nearest existing folder above `path`.
fs::path existing_folder(const fs::path& path) {
  std::error_code error;
  fs::path folder = fs::absolute(path, error);
  while (folder.has_relative_path() && !fs::is_directory(folder, error)) folder = folder.parent_path();
  return folder;
}

Check configuration_check(const Paths& paths) {
  std::error_code error;
  if (!fs::exists(paths.config, error) && !error)
    return {"configuration", CheckState::kOk, fmt::format("none ({})", paths.config.string()), ""};
  try {
    static_cast<void>(UserConfig::load(paths.config, process_environment));
  } catch (const CommandError& problem) {
    return failed_check("configuration", CheckState::kNote, problem.what());
  }
  return {"configuration", CheckState::kOk, paths.config.string(), ""};
}

std::vector<Check> database_checks(const fs::path& path) {
  const fs::path folder = existing_folder(path.parent_path());
  std::error_code error;
  if (!fs::exists(path, error)) {
    if (db::is_writable(folder))
      return {{"database", CheckState::kOk, fmt::format("none yet ({})", path.string()), ""}};
    return {{"database", CheckState::kNote, fmt::format("cannot be created: {} is not writable", folder.string()),
             "name a file elsewhere with --db or PGTUNE_DB"}};
  }
  try {
    const db::Database database = db::Database::open(path, db::OpenMode::kReadOnly);
    std::vector<Check> checks{{"database", CheckState::kOk, path.string(), ""},
                              {"journal", CheckState::kOk, database.journal_mode(), ""}};
    if (!db::is_writable(path) || !db::is_writable(folder))
      checks[0] = {"database", CheckState::kNote, fmt::format("{} is not writable", path.string()),
                   "change its permissions, or name another with --db or PGTUNE_DB"};
    return checks;
  } catch (const db::Error& problem) {
    return {failed_check("database", CheckState::kNote, problem.what())};
  }
}

Check file_system_check(const fs::path& folder) {
  const db::JournalPolicy policy = db::journal_policy(folder);
  if (policy.mode == "wal") return {"file system", CheckState::kOk, fmt::format("local ({})", folder.string()), ""};
  return {"file system", CheckState::kNote,
          fmt::format("{} may be shared by several machines: rollback journal, slower commits", folder.string()),
          "keep the database on a local disk with --db or PGTUNE_DB, one file a machine"};
}

Check space_check(const fs::path& database_folder, const fs::path& cache_folder) {
  fs::path tightest;
  std::uintmax_t least = UINTMAX_MAX;
  for (const fs::path& folder : {database_folder, cache_folder}) {
    std::error_code error;
    const fs::space_info space = fs::space(folder, error);
    if (error || space.available >= least) continue;
    least = space.available;
    tightest = folder;
  }
  if (tightest.empty())
    return {"free space", CheckState::kNote, "not known", fmt::format("look with df {}", database_folder.string())};
  const std::string finding =
      fmt::format("{:.1f} GiB at {}", static_cast<double>(least) / static_cast<double>(kGiB), tightest.string());
  if (least >= kEnoughBytes) return {"free space", CheckState::kOk, finding, ""};
  return {"free space", CheckState::kNote, finding,
          "free some, or move the cache (PGTUNE_CACHE_DIR) or database (--db)"};
}

}  // namespace

std::vector<Check> file_checks(const Paths& paths, const fs::path& given_database) {
  const fs::path database = fs::absolute(given_database);
  const fs::path folder = existing_folder(database.parent_path());
  std::vector<Check> checks{configuration_check(paths)};
  for (Check& check : database_checks(database)) checks.push_back(std::move(check));
  checks.push_back(file_system_check(folder));
  checks.push_back(space_check(folder, existing_folder(paths.cache)));
  return checks;
}

}  // namespace pgtune::tool

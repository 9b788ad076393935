// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/paths.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

#include "tool/pgtune/cli/version.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;

fs::path xdg_directory(const Environment& environment, const char* variable, const char* below_home) {
  if (const auto value = environment(variable); value && fs::path(*value).is_absolute()) return *value;
  if (const auto home = environment("HOME"); home && fs::path(*home).is_absolute()) return fs::path(*home) / below_home;
  const passwd* const user = ::getpwuid(::getuid());
  return fs::path(user != nullptr ? user->pw_dir : "/") / below_home;
}

/// The same for all users of the machine, as they must see each other's locks.
fs::path find_locks(const Environment& environment) {
  if (const auto value = environment("PGTUNE_LOCK_DIR")) return *value;
  constexpr const char* kRunLock = "/run/lock";  // some systems keep it for root
  struct stat status {};
  const bool for_all = ::stat(kRunLock, &status) == 0 && (status.st_mode & S_IWOTH) != 0;
  return for_all ? kRunLock : "/tmp";
}

fs::path find_worker(const Environment& environment, const fs::path& executable) {
  if (const auto value = environment("PGTUNE_WORKER")) return *value;
  const fs::path folder = executable.parent_path();
  const fs::path beside = folder / "pgtune-worker";
  const fs::path libexec = (folder / kLibexecFromBin / "pgtune-worker").lexically_normal();
  std::error_code ignored;
  return !fs::exists(beside, ignored) && fs::exists(libexec, ignored) ? libexec : beside;
}

}  // namespace

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

Paths Paths::find(const Environment& environment, const fs::path& executable) {
  Paths paths;
  if (const auto database = environment("PGTUNE_DB")) {
    paths.database = *database;
  } else {
    paths.database = xdg_directory(environment, "XDG_DATA_HOME", ".local/share") / "pgtune" / "pgtune.db";
  }
  if (const auto cache = environment("PGTUNE_CACHE_DIR")) {
    paths.cache = *cache;
  } else {
    paths.cache = xdg_directory(environment, "XDG_CACHE_HOME", ".cache") / "pgtune";
  }
  paths.config = xdg_directory(environment, "XDG_CONFIG_HOME", ".config") / "pgtune" / "config.json";
  paths.locks = find_locks(environment);
  paths.worker = find_worker(environment, executable);
  return paths;
}

fs::path own_executable() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path("pgtune") : path;
}

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
// The paths of pgtune's files: XDG base directories, PGTUNE_* overrides, the worker next to the executable.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace pgtune::tool {

/// Reads an environment variable; empty values count as unset.
using Environment = std::function<std::optional<std::string>(const char* name)>;
[[nodiscard]] std::optional<std::string> process_environment(const char* name);

struct Paths {
  std::filesystem::path database;  ///< --db beats PGTUNE_DB beats $XDG_DATA_HOME/pgtune/pgtune.db
  std::filesystem::path config;    ///< the user's defaults: $XDG_CONFIG_HOME/pgtune/config.json
  std::filesystem::path cache;     ///< cubins: PGTUNE_CACHE_DIR, else $XDG_CACHE_HOME/pgtune
  std::filesystem::path locks;     ///< of GPUs, for all users: PGTUNE_LOCK_DIR, else /run/lock or /tmp
  std::filesystem::path worker;    ///< PGTUNE_WORKER, else pgtune-worker next to the executable, else in libexec

  /// `executable`: pgtune itself. Relative XDG values are ignored, as the XDG specification requires. With neither XDG
  /// variables nor HOME, files go below the current folder.
  [[nodiscard]] static Paths find(const Environment& environment, const std::filesystem::path& executable);
};

/// /proc/self/exe, resolved.
[[nodiscard]] std::filesystem::path own_executable();

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
// The user's defaults: $XDG_CONFIG_HOME/pgtune/config.json (Paths::config). Every key is optional. The command line
// overrides the environment, which overrides this file, which overrides built-in defaults.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tool/pgtune/cli/paths.hpp"

namespace pgtune::tool {

/// A request to lock the SM clock while measuring: --lock-clocks[=MHz], or "lock_clocks" in the configuration file.
struct LockRequest {
  std::optional<int> mhz;  ///< nothing: pgtune chooses the clock (see tuner/gpu/nvml/clock_lock.hpp)

  friend bool operator==(const LockRequest&, const LockRequest&) = default;
};

struct UserConfig {
  std::optional<LockRequest> lock_clocks;  ///< "lock_clocks": true or MHz; false equals absent
  std::optional<std::string> regime;       ///< "regime": "sustained" or "burst"
  std::optional<std::string> l2;           ///< "l2": "rotated" or "warm"
  std::optional<std::string> database;     ///< "database": an absolute path; a leading "~/" is expanded
  std::optional<int> jobs;                 ///< "jobs": compile workers, at least 1
  std::optional<std::string> strategy;     ///< "strategy": of searches on a GPU

  /// Reads `file`; one that does not exist is an empty configuration. `environment`: for HOME. Throws CommandError
  /// (usage) for bad JSON, an unknown key, or a wrong type or value; it names file and key, the allowed values and the
  /// nearest known key. Throws CommandError (environment) if an existing file cannot be read.
  [[nodiscard]] static UserConfig load(const std::filesystem::path& file, const Environment& environment);
  /// The same for a file's text; `file` names it in messages.
  [[nodiscard]] static UserConfig parse(const std::string& text, const std::filesystem::path& file,
                                        const Environment& environment);
};

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
// The user's defaults: $XDG_CONFIG_HOME/pgtune/config.json (Paths::config). Every key is optional; the command line
// beats the environment beats this file beats what is built in.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tool/pgtune/cli/paths.hpp"

namespace pgtune::tool {

/// A wish to lock the SM clock while measuring: --lock-clocks[=MHz], or "lock_clocks" in the configuration file.
struct LockRequest {
  std::optional<int> mhz;  ///< nothing: the clock pgtune chooses (tuner/gpu/nvml/clock_lock.hpp says how)

  friend bool operator==(const LockRequest&, const LockRequest&) = default;
};

struct UserConfig {
  std::optional<LockRequest> lock_clocks;  ///< "lock_clocks": true or MHz; false is as good as absent
  std::optional<std::string> regime;       ///< "regime": "sustained" or "burst"
  std::optional<std::string> l2;           ///< "l2": "rotated" or "warm"
  std::optional<std::string> database;     ///< "database": an absolute path; a leading "~/" is expanded
  std::optional<int> jobs;                 ///< "jobs": compile workers, at least 1
  std::optional<std::string> strategy;     ///< "strategy": what searches on a GPU take

  /// Reads `file`; one that does not exist is an empty configuration. `environment`: for HOME. Throws CommandError
  /// (usage), naming the file and the key, what is allowed and the nearest key there is, for anything else that is
  /// wrong: bad JSON, an unknown key, a wrong type or value. Throws CommandError (environment) where an existing file
  /// cannot be read.
  [[nodiscard]] static UserConfig load(const std::filesystem::path& file, const Environment& environment);
  /// The same for text that is already read; `file` names it in messages.
  [[nodiscard]] static UserConfig parse(const std::string& text, const std::filesystem::path& file,
                                        const Environment& environment);
};

}  // namespace pgtune::tool

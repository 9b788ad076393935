// SPDX-License-Identifier: MIT
// The options that say how is measured, shared by search and bench: --regime, --l2, --data, --data-seed, --lock-clocks,
// --no-lock-clocks and --power; and the lines that tell the user.
#pragma once

#include <optional>
#include <string>

#include "tool/pgtune/cli/command_line.hpp"
#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/cli/user_config.hpp"
#include "tuner/model/conditions.hpp"

namespace pgtune::tool {

inline constexpr const char* kMeasuringGroup = "Measuring";

class ConditionsOptions {
 public:
  /// Binds the options to this object, which must outlive the parse.
  void add_to(CommandLine& app);

  /// What the options ask for, else `defaults`, else what is built in; the clock observed. Throws CommandError (usage).
  [[nodiscard]] Conditions conditions(const UserConfig& defaults) const;
  /// The lock the options ask for, else `defaults`. `source`: "gpu" or another; only a GPU has clocks, so elsewhere the
  /// default is dropped and the option refused. Throws CommandError (usage).
  [[nodiscard]] std::optional<LockRequest> lock_request(const UserConfig& defaults, const std::string& source) const;
  /// Whether energy is to be measured too.
  [[nodiscard]] bool power() const { return power_; }

 private:
  [[nodiscard]] bool lock_given() const { return lock_option_.given(); }

  std::string regime_, l2_, data_, data_seed_, lock_clocks_;
  Option lock_option_;
  bool no_lock_clocks_ = false, power_ = false;
};

}  // namespace pgtune::tool

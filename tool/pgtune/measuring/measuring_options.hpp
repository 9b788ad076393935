// SPDX-License-Identifier: MIT
// The common options of search, bench and ladder: device, conditions, database.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tool/pgtune/cli/command_line.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tuner/device/device.hpp"
#include "tuner/session/search_session.hpp"

namespace pgtune::tool {

inline constexpr const char* kMeasuringGroup = "Measuring";

/// Limits of compiling.
struct CompileLimits {
  std::size_t jobs = 0;                    ///< compile workers; 0: device::default_compile_jobs()
  std::chrono::milliseconds time{60'000};  ///< of one build
  std::int64_t memory_bytes = device::kDefaultCompileMemoryBytes;  ///< of one worker
};

/// --compile-limit and --compile-memory.
class CompileArguments {
 public:
  void add_to(CommandLine& app, const char* group);
  /// Throws CommandError (usage) that names the option.
  [[nodiscard]] CompileLimits read() const;

 private:
  std::string time_, memory_mib_;
};

/// Whether the SM clock is to be locked.
struct ClockWish {
  bool demanded = false;               ///< by --lock-clocks, not only by the configuration file
  std::optional<LockRequest> request;  ///< for a GPU

  /// Throws CommandError (usage) if a lock is demanded without a GPU to lock.
  void refuse_without_gpu() const;
};

struct MeasuringOptions {
  std::string device;           ///< for choose_devices()
  std::string database;         ///< the file
  std::string database_option;  ///< database_option_text()
  CompileLimits compile;
  ClockWish clock;
  /// Seed, conditions (with the clock observed), energy and command line; the command fills in the rest.
  session::SessionOptions session;
  bool wait = false;  ///< for a GPU on which another pgtune measures
  bool json = false;
};

/// These options in typed form.
class MeasuringArguments {
 public:
  /// The differences between the commands.
  struct Offered {
    const char* group;           ///< heading of --device and other options than conditions
    bool architectures = false;  ///< --device takes an architecture too
    bool energy = true;          ///< there is --power
  };

  /// Binds the options to this object, which must outlive the parse.
  void add_to(CommandLine& app, const Offered& offered);
  /// The options, else the configuration file's, else the built-in defaults; sets the terminal's verbosity. Throws
  /// CommandError (usage) that names the option.
  [[nodiscard]] MeasuringOptions read(Context& context) const;

 private:
  void add_conditions(CommandLine& app, bool energy);
  [[nodiscard]] CompileLimits compile_limits(const UserConfig& defaults) const;
  [[nodiscard]] Conditions conditions(const UserConfig& defaults) const;
  [[nodiscard]] ClockWish clock(const UserConfig& defaults) const;

  std::string device_ = "auto", database_, seed_ = "1";
  std::string jobs_;
  CompileArguments compile_;
  std::string regime_, l2_, data_, data_seed_, lock_clocks_;
  Option lock_option_;
  bool wait_ = false, no_lock_clocks_ = false, power_ = false, json_ = false, quiet_ = false, verbose_ = false;
};

}  // namespace pgtune::tool

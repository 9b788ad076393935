// SPDX-License-Identifier: MIT
// What search, bench and ladder are told alike: on which device, under which conditions, into which database.
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

/// What compiling may cost.
struct CompileLimits {
  std::size_t jobs = 0;                    ///< compile workers; 0: device::default_compile_jobs()
  std::chrono::milliseconds time{60'000};  ///< of one build
  std::int64_t memory_bytes = device::kDefaultCompileMemoryBytes;  ///< of one worker
};

/// Whether the SM clock is to be locked.
struct ClockWish {
  bool demanded = false;               ///< by --lock-clocks, not by the configuration file alone
  std::optional<LockRequest> request;  ///< for a GPU

  /// Throws CommandError (usage) where a lock is demanded: there is no GPU whose clocks could be locked.
  void refuse_without_gpu() const;
};

struct MeasuringOptions {
  std::string device;    ///< for choose_devices()
  std::string database;  ///< the file
  CompileLimits compile;
  ClockWish clock;
  /// Seed, conditions (with the clock observed), energy and command line; the rest is for the command to fill in.
  session::SessionOptions session;
  bool wait = false;  ///< for a GPU on which another pgtune measures
  bool json = false;
};

/// These options as they are typed.
class MeasuringArguments {
 public:
  /// In which of them the commands differ.
  struct Offered {
    const char* group;           ///< of --device and what is not about conditions
    bool architectures = false;  ///< --device takes an architecture too
    bool energy = true;          ///< there is --power
  };

  /// Binds the options to this object, which must outlive the parse.
  void add_to(CommandLine& app, const Offered& offered);
  /// The options, else the configuration file's, else what is built in; the terminal becomes as quiet as asked. Throws
  /// CommandError (usage) that names the option.
  [[nodiscard]] MeasuringOptions read(Context& context) const;

 private:
  void add_conditions(CommandLine& app, bool energy);
  [[nodiscard]] CompileLimits compile_limits(const UserConfig& defaults) const;
  [[nodiscard]] Conditions conditions(const UserConfig& defaults) const;
  [[nodiscard]] ClockWish clock(const UserConfig& defaults) const;

  std::string device_ = "auto", database_, seed_ = "1";
  std::string jobs_, compile_time_, compile_memory_mib_;
  std::string regime_, l2_, data_, data_seed_, lock_clocks_;
  Option lock_option_;
  bool wait_ = false, no_lock_clocks_ = false, power_ = false, json_ = false, quiet_ = false, verbose_ = false;
};

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/measuring_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tuner/util/named_enum.hpp"

namespace pgtune::tool {
namespace {

/// Sets `target` to the value that `text` names; an empty text leaves it unchanged.
template <typename Value>
void read_choice(const char* option, const std::string& text, std::optional<Value> (*parse)(std::string_view),
                 const char* choices, Value& target) {
  if (text.empty()) return;
  const auto value = parse(text);
  if (!value) throw CommandError(ErrorKind::kUsage, fmt::format("unknown {} '{}'. Give {}.", option, text, choices));
  target = *value;
}

}  // namespace

void CompileArguments::add_to(CommandLine& app, const char* group) {
  app.add_option("--compile-limit", time_, "How long one variant may compile before it is given up (default: 60s)")
      .option_text("TIME")
      .group(group);
  app.add_option("--compile-memory", memory_mib_, "Memory one compile worker may take, in MiB (default: 2048)")
      .option_text("MIB")
      .group(group);
}

CompileLimits CompileArguments::read() const {
  constexpr std::int64_t kLeastMib = 128;  // NVRTC itself takes about 90
  constexpr std::int64_t kMostMib = std::int64_t{1} << 30;
  CompileLimits limits;
  if (!time_.empty())
    limits.time = std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::duration<double>(parse_seconds("--compile-limit", time_)));
  if (!memory_mib_.empty())
    limits.memory_bytes = std::min(parse_count("--compile-memory", memory_mib_, kLeastMib), kMostMib) << 20;
  return limits;
}

void ClockWish::refuse_without_gpu() const {
  if (demanded)
    throw CommandError(ErrorKind::kUsage,
                       "--lock-clocks locks the clocks of a GPU, and none is used here. Leave it out, or choose a GPU "
                       "with --device.");
}

void MeasuringArguments::add_to(CommandLine& app, const Offered& offered) {
  const auto add = [&](const char* name, std::string& target, const char* text, const char* description) {
    app.add_option(name, target, description).option_text(text).group(offered.group);
  };
  (offered.architectures ? add_device_or_architecture_option(app, device_) : add_device_option(app, device_))
      .group(offered.group);
  app.add_flag("--wait", wait_, "Wait for a GPU on which another pgtune measures, instead of failing")
      .group(offered.group);
  add_database_option(app, database_).group(offered.group);
  add("--jobs", jobs_, "N",
      "Compile workers (default: the configuration file's, else one a core, as far as memory holds)");
  compile_.add_to(app, offered.group);
  add("--seed", seed_, "N", "Order of variants; with the session's start, of rounds (default: 1)");
  add_conditions(app, offered.energy);
  add_json_option(app, json_);
  app.add_flag("-q,--quiet", quiet_, "Results only").group(kOutputGroup);
  app.add_flag("-v,--verbose", verbose_, "Print more details").group(kOutputGroup);
}

void MeasuringArguments::add_conditions(CommandLine& app, bool energy) {
  const auto add = [&](const char* name, std::string& target, const char* text, const char* description) {
    return app.add_option(name, target, description).option_text(text).group(kMeasuringGroup);
  };
  add("--regime", regime_, "NAME",
      "sustained (default): samples back to back, as under load; burst: a pause before every sample")
      .complete_with(pgtune::words_of<Regime>());
  add("--l2", l2_, "NAME",
      "rotated (default): each launch reads its operands from DRAM; warm: what fits in L2 stays there")
      .complete_with(pgtune::words_of<L2State>());
  add("--data", data_, "NAME",
      "Operands: uniform (default) or normal; integers and zeros draw less power and run faster than real data")
      .complete_with(pgtune::words_of<DataDistribution>());
  add("--data-seed", data_seed_, "N", "Seed of the operands (default: 20231107)");
  lock_option_ = add("--lock-clocks", lock_clocks_, "[=MHz]",
                     "Lock the SM clock while measuring, at MHz or as high as this GPU holds; needs root; restored on "
                     "any exit")
                     .value_optional();
  app.add_flag("--no-lock-clocks", no_lock_clocks_, "Lock no clock, even where the configuration file asks for it")
      .group(kMeasuringGroup);
  if (!energy) return;
  app.add_flag("--power", power_, "Also measure the energy of the winner and of cuBLASLt, some seconds each")
      .group(kMeasuringGroup);
}

MeasuringOptions MeasuringArguments::read(Context& context) const {
  if (quiet_ && verbose_) throw CommandError(ErrorKind::kUsage, "--quiet and --verbose exclude each other. Give one.");
  if (quiet_) context.terminal().set_verbosity(Verbosity::kQuiet);
  if (verbose_) context.terminal().set_verbosity(Verbosity::kVerbose);
  MeasuringOptions options;
  options.device = device_;
  options.database = context.database_path(database_).string();
  options.database_option = database_option_text(database_);
  options.compile = compile_limits(context.config());
  options.clock = clock(context.config());
  options.session.seed = static_cast<std::uint64_t>(parse_count("--seed", seed_, 0));
  options.session.conditions = conditions(context.config());
  options.session.measure_energy = power_;
  options.session.command_line = context.command_line();
  options.wait = wait_;
  options.json = json_;
  return options;
}

CompileLimits MeasuringArguments::compile_limits(const UserConfig& defaults) const {
  CompileLimits limits = compile_.read();
  limits.jobs = jobs_.empty() ? static_cast<std::size_t>(defaults.jobs.value_or(0))
                              : static_cast<std::size_t>(parse_count("--jobs", jobs_, 1));
  return limits;
}

Conditions MeasuringArguments::conditions(const UserConfig& defaults) const {
  Conditions conditions;
  read_choice("--regime", regime_.empty() ? defaults.regime.value_or("") : regime_, parse_regime, "sustained or burst",
              conditions.regime);
  read_choice("--l2", l2_.empty() ? defaults.l2.value_or("") : l2_, parse_l2_state, "rotated or warm", conditions.l2);
  read_choice("--data", data_, parse_data_distribution, "uniform, normal, integers or zeros", conditions.data);
  if (!data_seed_.empty()) conditions.data_seed = static_cast<std::uint64_t>(parse_count("--data-seed", data_seed_, 0));
  return conditions;
}

ClockWish MeasuringArguments::clock(const UserConfig& defaults) const {
  const bool demanded = lock_option_.given();
  if (demanded && no_lock_clocks_)
    throw CommandError(ErrorKind::kUsage, "--lock-clocks and --no-lock-clocks exclude each other. Give one.");
  if (no_lock_clocks_) return {};
  if (!demanded) return {false, defaults.lock_clocks};
  if (lock_clocks_.empty()) return {true, LockRequest{}};
  const std::int64_t mhz = parse_count("--lock-clocks", lock_clocks_, 1);
  constexpr std::int64_t kMostMhz = 100'000;
  if (mhz > kMostMhz)
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("--lock-clocks '{}' is no clock of a GPU. Give MHz, such as 1500.", lock_clocks_));
  return {true, LockRequest{static_cast<int>(mhz)}};
}

}  // namespace pgtune::tool

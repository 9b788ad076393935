// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/options/conditions_options.hpp"

#include <fmt/format.h>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/number_options.hpp"

namespace pgtune::tool {
namespace {

/// `target` becomes what `text` names; an empty text leaves it as it is.
template <typename Value>
void read_choice(const char* option, const std::string& text, std::optional<Value> (*parse)(std::string_view),
                 const char* choices, Value& target) {
  if (text.empty()) return;
  const auto value = parse(text);
  if (!value) throw CommandError(ErrorKind::kUsage, fmt::format("unknown {} '{}'. Give {}.", option, text, choices));
  target = *value;
}

}  // namespace

void ConditionsOptions::add_to(CommandLine& app) {
  const auto add = [&](const char* name, std::string& target, const char* text, const char* description) {
    return app.add_option(name, target, description).option_text(text).group(kMeasuringGroup);
  };
  add("--regime", regime_, "NAME",
      "sustained (default): samples back to back, as under load; burst: a pause before every sample");
  add("--l2", l2_, "NAME",
      "rotated (default): every launch finds its operands in DRAM; warm: what fits in L2 stays there");
  add("--data", data_, "NAME",
      "Operands: uniform (default) or normal; integers and zeros draw less power and run faster than real data");
  add("--data-seed", data_seed_, "N", "Seed of the operands (default: 20231107)");
  lock_option_ = add("--lock-clocks", lock_clocks_, "[=MHz]",
                     "Lock the SM clock while measuring, at MHz or as high as this GPU holds; needs root; undone at "
                     "the end, however it comes")
                     .value_optional();
  app.add_flag("--no-lock-clocks", no_lock_clocks_, "Lock nothing, whatever the configuration file says")
      .group(kMeasuringGroup);
  app.add_flag("--power", power_, "Measure energy too, of the winner and of cuBLASLt: some seconds a window")
      .group(kMeasuringGroup);
}

Conditions ConditionsOptions::conditions(const UserConfig& defaults) const {
  Conditions conditions;
  read_choice("--regime", regime_.empty() ? defaults.regime.value_or("") : regime_, parse_regime, "sustained or burst",
              conditions.regime);
  read_choice("--l2", l2_.empty() ? defaults.l2.value_or("") : l2_, parse_l2_state, "rotated or warm", conditions.l2);
  read_choice("--data", data_, parse_data_distribution, "uniform, normal, integers or zeros", conditions.data);
  if (!data_seed_.empty()) conditions.data_seed = static_cast<std::uint64_t>(parse_count("--data-seed", data_seed_, 0));
  return conditions;
}

std::optional<LockRequest> ConditionsOptions::lock_request(const UserConfig& defaults,
                                                           const std::string& source) const {
  if (lock_given() && no_lock_clocks_)
    throw CommandError(ErrorKind::kUsage, "--lock-clocks and --no-lock-clocks exclude each other. Give one.");
  if (lock_given() && source != "gpu")
    throw CommandError(ErrorKind::kUsage,
                       "--lock-clocks locks the clocks of a GPU, and none is used here. Leave it out, or choose a GPU "
                       "with --device.");
  if (no_lock_clocks_ || source != "gpu") return std::nullopt;
  if (!lock_given()) return defaults.lock_clocks;
  if (lock_clocks_.empty()) return LockRequest{};
  const std::int64_t mhz = parse_count("--lock-clocks", lock_clocks_, 1);
  constexpr std::int64_t kMostMhz = 100'000;
  if (mhz > kMostMhz)
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("--lock-clocks '{}' is no clock of a GPU. Give MHz, such as 1500.", lock_clocks_));
  return LockRequest{static_cast<int>(mhz)};
}

}  // namespace pgtune::tool

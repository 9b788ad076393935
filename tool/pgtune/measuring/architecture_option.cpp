// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/architecture_option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tuner/model/architectures.hpp"

namespace pgtune::tool {

void add_device_or_architecture_option(CommandLine& app, std::string& device) {
  app.add_option("--device", device,
                 "auto, a GPU's number or UUID, replay, replay:FILE, or an architecture such as sm_90a, for which no "
                 "GPU is needed")
      .option_text("DEVICE");
}

DeviceInfo device_or_architecture(Context& context, const std::string& option) {
  if (auto info = architecture_info(option)) return *info;
  if (option.starts_with("sm_"))
    throw CommandError(ErrorKind::kUsage, fmt::format("unknown architecture '{}'; this pgtune knows: {}", option,
                                                      fmt::join(known_architectures(), ", ")));
  DeviceChoice choice = choose_device(context, option);
  for (const std::string& note : choice.notes) context.terminal().note(note);
  return std::move(choice.info);
}

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
// --device of commands that need no GPU: a device as for search, or an architecture such as sm_90a.
#pragma once

#include <string>

#include "tool/pgtune/cli/command_line.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::tool {

void add_device_or_architecture_option(CommandLine& app, std::string& device);

/// Facts about the device or architecture. Throws CommandError as choose_device() does, with the architectures named.
[[nodiscard]] DeviceInfo device_or_architecture(Context& context, const std::string& option);

}  // namespace pgtune::tool

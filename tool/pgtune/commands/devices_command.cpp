// SPDX-License-Identifier: MIT
// `pgtune devices`: the GPUs in this machine.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/device/device_list.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

class DevicesCommand final : public Command {
 public:
  std::string name() const override { return "devices"; }
  std::string description() const override { return "List the GPUs of this machine"; }
  std::string examples() const override {
    return "pgtune devices\n"
           "pgtune devices --json";
  }

  void add_options(CommandLine& app) override { add_json_option(app, json_); }

  ExitCode run(Context& context) override {
    const auto found = device::list_devices(context.paths().worker.string());
    const std::vector<DeviceInfo> devices = found.value_or(std::vector<DeviceInfo>{});
    if (json_) {
      json out = {{"devices", devices}};
      if (!found) out["problem"] = found.error().text();
      context.terminal().print(fmt::format("{}\n", out.dump(2)));
    } else {
      print(context.terminal(), devices);
    }
    // Having no GPU is a valid answer, but scripts must be able to tell.
    if (devices.empty()) context.terminal().error(found ? "no GPU in this machine" : found.error().text());
    return devices.empty() ? ExitCode::kEnvironment : ExitCode::kDone;
  }

 private:
  static void print(Terminal& terminal, const std::vector<DeviceInfo>& devices) {
    if (devices.empty()) return;
    TextTable table({{"GPU", Align::kRight},
                     {"name"},
                     {"arch"},
                     {"SMs", Align::kRight},
                     {"memory", Align::kRight},
                     {"L2", Align::kRight},
                     {"driver"}});
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const DeviceInfo& device = devices[i];
      table.add_row({std::to_string(i), device.name, device.architecture, std::to_string(device.sm_count),
                     fmt::format("{:.0f} GiB", static_cast<double>(device.memory_bytes) / (1U << 30)),
                     fmt::format("{:.0f} MiB", static_cast<double>(device.l2_bytes) / (1U << 20)),
                     device.driver_version});
    }
    terminal.print(table.text());
    for (std::size_t i = 0; i < devices.size(); ++i) terminal.print(fmt::format("GPU {}: {}\n", i, devices[i].uuid));
  }

  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_devices_command() { return std::make_unique<DevicesCommand>(); }

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
#include "tuner/device/device_list.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tuner/device/worker_client.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/child_process.hpp"

namespace pgtune::device {
namespace {

constexpr std::chrono::seconds kTimeout{60};
constexpr std::size_t kMaxListBytes = 1U << 20U;

}  // namespace

Result<std::vector<DeviceInfo>> list_devices(const std::string& worker_path) {
  if (auto found = check_worker_program(worker_path); !found) return tl::unexpected<Error>(std::move(found.error()));
  auto child = ChildProcess::start({worker_path, "--role", "list"}, kMaxListBytes);
  if (!child) return tl::unexpected<Error>(std::move(child.error()));
  const auto line = wait_for_line(**child, worker_path, kTimeout);
  if (!line) return fail(line.error(), "cannot list the GPUs");
  try {
    const auto list = nlohmann::json::parse(*line);
    auto devices = list.at("devices").get<std::vector<DeviceInfo>>();
    if (!devices.empty()) return devices;
    return fail(ErrorKind::kEnvironment, list.value("problem", "there is no NVIDIA GPU on this machine"));
  } catch (const nlohmann::json::exception& error) {
    return fail(
        ErrorKind::kEnvironment,
        fmt::format("cannot list the GPUs: {} gave an answer that is not understood: {}", worker_path, error.what()));
  }
}

}  // namespace pgtune::device

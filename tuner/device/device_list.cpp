// SPDX-License-Identifier: MIT
#include "tuner/device/device_list.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tuner/device/child_process.hpp"
#include "tuner/device/worker_client.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::device {
namespace {

constexpr std::chrono::seconds kTimeout{60};
constexpr std::size_t kMaxListBytes = 1U << 20U;

tl::unexpected<Error> cannot_list(const std::string& worker_path, const std::string& why) {
  return fail(ErrorKind::kEnvironment, fmt::format("cannot list the GPUs: {} {}", worker_path, why));
}

Result<std::string> read_line(const std::string& worker_path) {
  auto child = ChildProcess::start({worker_path, "--role", "list"}, kMaxListBytes);
  if (!child) return tl::unexpected<Error>(std::move(child.error()));
  const Clock::time_point until = Clock::now() + kTimeout;
  for (;;) {
    (*child)->pump();
    if (auto line = (*child)->next_line()) return std::move(*line);
    if ((*child)->overflowed()) return cannot_list(worker_path, "does not end its answer");
    if ((*child)->ended()) return cannot_list(worker_path, (*child)->death_reason());
    if (Clock::now() >= until)
      return cannot_list(worker_path, fmt::format("gave no answer within {} s", kTimeout.count()));
    std::vector<pollfd> fds;
    (*child)->add_poll_fds(fds);
    // A signal only means another look; the wait ends with the timeout.
    static_cast<void>(wait_ready(fds, until));
  }
}

}  // namespace

Result<std::vector<DeviceInfo>> list_devices(const std::string& worker_path) {
  if (auto found = check_worker_program(worker_path); !found) return tl::unexpected<Error>(std::move(found.error()));
  auto line = read_line(worker_path);
  if (!line) return tl::unexpected<Error>(std::move(line.error()));
  try {
    const auto list = nlohmann::json::parse(*line);
    auto devices = list.at("devices").get<std::vector<DeviceInfo>>();
    if (!devices.empty()) return devices;
    return fail(ErrorKind::kEnvironment, list.value("problem", "there is no NVIDIA GPU on this machine"));
  } catch (const nlohmann::json::exception& error) {
    return cannot_list(worker_path, fmt::format("gave an answer that is not understood: {}", error.what()));
  }
}

}  // namespace pgtune::device

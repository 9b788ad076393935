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

/// The one line of a worker with such arguments.
Result<std::string> only_line(const std::string& worker_path, std::vector<std::string> arguments) {
  TRY(check_worker_program(worker_path));
  arguments.insert(arguments.begin(), worker_path);
  TRY_ASSIGN(auto child, ChildProcess::start(arguments, kMaxListBytes));
  return wait_for_line(*child, worker_path, kTimeout);
}

tl::unexpected<Error> not_understood(const std::string& worker_path, const nlohmann::json::exception& error) {
  return fail(ErrorKind::kEnvironment,
              fmt::format("{} gave an answer that is not understood: {}", worker_path, error.what()));
}

}  // namespace

Result<GpuLimits> gpu_limits(const std::string& worker_path, const std::string& uuid) {
  const auto line = only_line(worker_path, {"--role", "limits", "--gpu", uuid});
  if (!line) return fail(line.error(), "cannot read the GPU's limits");
  const auto limits = nlohmann::json::parse(*line, nullptr, false);
  if (limits.is_object() && limits.contains("power_limit_w") && limits["power_limit_w"].is_number() &&
      limits.contains("mig_mode") && limits["mig_mode"].is_boolean())
    return GpuLimits{limits["power_limit_w"].get<double>(), limits["mig_mode"].get<bool>()};
  return fail(ErrorKind::kEnvironment, fmt::format("cannot read the limits of GPU {}: {}", uuid, *line));
}

Result<std::vector<GpuProcess>> gpu_processes(const std::string& worker_path, const std::string& uuid) {
  const auto context = [&] { return "cannot list the processes on GPU " + uuid; };
  const auto line = only_line(worker_path, {"--role", "processes", "--gpu", uuid});
  if (!line) return fail(line.error(), context());
  try {
    const auto list = nlohmann::json::parse(*line);
    if (const auto problem = list.find("problem"); problem != list.end())
      return fail(Error{ErrorKind::kEnvironment, problem->get<std::string>(), {}}, context());
    return list.at("processes").get<std::vector<GpuProcess>>();
  } catch (const nlohmann::json::exception& error) {
    return fail(not_understood(worker_path, error).value(), context());
  }
}

Result<std::vector<DeviceInfo>> list_devices(const std::string& worker_path) {
  const auto line = only_line(worker_path, {"--role", "list"});
  if (!line) return fail(line.error(), "cannot list the GPUs");
  try {
    const auto list = nlohmann::json::parse(*line);
    auto devices = list.at("devices").get<std::vector<DeviceInfo>>();
    if (!devices.empty()) return devices;
    return fail(ErrorKind::kEnvironment, list.value("problem", "there is no NVIDIA GPU on this machine"));
  } catch (const nlohmann::json::exception& error) {
    return fail(not_understood(worker_path, error).value(), "cannot list the GPUs");
  }
}

Result<std::string> compiler_version(const std::string& worker_path) {
  const auto line = only_line(worker_path, {"--role", "list"});
  if (!line) return fail(line.error(), "cannot ask for the compiler's version");
  try {
    return nlohmann::json::parse(*line).at("nvrtc").get<std::string>();
  } catch (const nlohmann::json::exception& error) {
    return fail(not_understood(worker_path, error).value(), "cannot ask for the compiler's version");
  }
}

}  // namespace pgtune::device

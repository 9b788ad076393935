// SPDX-License-Identifier: MIT
#include "tool/worker/limits.hpp"

#include <nlohmann/json.hpp>

#include "tuner/gpu/nvml/nvml.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::worker {
namespace {

using nlohmann::json;

/// What `describe` has of the GPU with that UUID, as a line.
template <typename Describe>
std::string line_of(const std::string& uuid, const Describe& describe) {
  const Result<gpu::NvmlDevice> device =
      gpu::Nvml::open().and_then([&](const gpu::Nvml& nvml) { return nvml.device(uuid); });
  const json line = device ? describe(*device) : json{{"problem", device.error().text()}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string limits_line(const std::string& uuid) {
  return line_of(uuid, [](const gpu::NvmlDevice& gpu) {
    return json{{"power_limit_w", gpu.power_limit_w()}, {"mig_mode", gpu.in_mig_mode()}};
  });
}

std::string processes_line(const std::string& uuid) {
  return line_of(uuid, [](const gpu::NvmlDevice& gpu) { return json{{"processes", gpu.compute_processes()}}; });
}

}  // namespace pgtune::worker

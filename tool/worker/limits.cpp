// SPDX-License-Identifier: MIT
#include "tool/worker/limits.hpp"

#include <nlohmann/json.hpp>

#include "tuner/gpu/nvml/nvml.hpp"

namespace pgtune::worker {

std::string limits_line(const std::string& uuid) {
  using nlohmann::json;
  const Result<gpu::NvmlDevice> device =
      gpu::Nvml::open().and_then([&](const gpu::Nvml& nvml) { return nvml.device(uuid); });
  const json line = device ? json{{"power_limit_w", device->power_limit_w()}, {"mig_mode", device->in_mig_mode()}}
                           : json{{"problem", device.error().text()}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace pgtune::worker

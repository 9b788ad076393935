// SPDX-License-Identifier: MIT
#include "tool/worker/list_gpus.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "tuner/gpu/jit/toolkit.hpp"
#include "tuner/gpu/measure/measurer.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::worker {

std::string list_gpus_line() {
  using nlohmann::json;
  json line = {{"devices", json::array()}, {"nvrtc", gpu::find_toolkit().value_or(gpu::Toolkit()).nvrtc_version}};
  if (const Result<std::vector<DeviceInfo>> devices = gpu::list_gpus(); !devices) {
    line["problem"] = devices.error().text();
  } else if (devices->empty()) {
    line["problem"] = "the driver shows no GPU; check CUDA_VISIBLE_DEVICES and nvidia-smi";
  } else {
    line["devices"] = *devices;
    line["driver"] = devices->front().driver_version;
  }
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace pgtune::worker

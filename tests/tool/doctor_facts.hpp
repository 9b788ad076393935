// SPDX-License-Identifier: MIT
// What the worker's doctor role says on a machine that lacks nothing.
#pragma once

#include <nlohmann/json.hpp>

namespace pgtune::tool::test {

inline nlohmann::json good_facts() {
  return nlohmann::json::parse(R"json({
    "administrator": true,
    "nvrtc": {"version": "13.0", "path": "/opt/cuda/lib64/libnvrtc.so.13", "place": "CUDA_HOME",
              "headers": "/usr/local/cuda/include"},
    "cublaslt": {"version": "13.0.2", "path": "/opt/cuda/lib64/libcublasLt.so.13", "place": "CUDA_HOME"},
    "library_places": [{"name": "PGTUNE_CUDA_HOME", "folders": []}, {"name": "CUDA_HOME", "folders": ["/opt/cuda/lib64"]},
                       {"name": "dynamic loader", "folders": []}],
    "driver": {"cuda": "13.0", "version": "580.65.06"},
    "gpus": [{"name": "other", "architecture": "sm_80", "uuid": "GPU-0a"},
             {"name": "NVIDIA H200", "architecture": "sm_90a", "uuid": "GPU-0b"}],
    "gpu": 1,
    "nvml": {"fields": {"temperature": true, "energy counter": true}, "energy_step_s": 0.1,
             "clocks_mhz": [345, 1980], "lock_mhz": 1485, "processes": []},
    "timers": {"event_floor_s": 2.1e-6, "globaltimer_step_s": 3.2e-8}
  })json");
}

}  // namespace pgtune::tool::test

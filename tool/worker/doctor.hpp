// SPDX-License-Identifier: MIT
// The doctor role: what there is to know about this machine's CUDA and one GPU, for `pgtune doctor`.
#pragma once

#include <string>

namespace pgtune::worker {

/// One JSON line. Whatever is missing has a "problem" (cause and remedy) in its place; nothing is a failure. Fields
/// NVML does not say are absent.
///   administrator  whether this process is root's
///   nvrtc          {"version", "path", "place": "CUDA_HOME", "headers": "/usr/local/cuda/include"}, or "problem" alone
///                  or, where it does not compile, beside them
///   cublaslt       {"version", "path", "place"} or {"problem"}
///   library_places where both are looked for, in this order: [{"name": "CUDA_HOME", "folders": [...]}, ...]
///   driver         {"cuda": "13.0", "version": "580.65.06"}, "cuda" empty without a driver
///   gpus           all that are visible, as `list` has them; "problem" beside them where there is none
///   gpu            ordinal of `gpu`, ordinal or UUID; or "gpu_problem"
///   nvml           {"version"?, "fields": {"temperature": true, ...}, "energy_step_s", "clocks_mhz": [low, high],
///                  "lock_mhz", "lock_problem", "processes": [{"pid", "memory_bytes"}]} or {"problem"}
///   timers         {"event_floor_s", "globaltimer_step_s"} or {"problem"}
[[nodiscard]] std::string doctor_line(const std::string& gpu);

}  // namespace pgtune::worker

// SPDX-License-Identifier: MIT
// `pgtune doctor`, the part about CUDA and the GPU: asks the worker's doctor role and judges what it says.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tool/pgtune/doctor/doctor_check.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// The worker's JSON line (tool/worker/roles.hpp) about `gpu`, an ordinal or UUID. Errors (environment): there is no
/// worker, or it does not answer.
[[nodiscard]] Result<nlohmann::json> ask_worker(const std::string& worker_path, const std::string& gpu);

/// Judges such a line. Throws nlohmann::json::exception where it is not one.
[[nodiscard]] std::vector<Check> gpu_checks(const nlohmann::json& facts);

/// What can be said without a worker. `driver_folder`: /proc/driver/nvidia.
[[nodiscard]] std::vector<Check> checks_without_worker(const Error& problem, const std::string& driver_folder);

}  // namespace pgtune::tool

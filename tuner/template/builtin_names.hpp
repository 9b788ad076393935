// SPDX-License-Identifier: MIT
// The names every template's expressions may use: facts of the device and of the problem.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::space {

[[nodiscard]] const std::vector<std::string>& device_names();
/// Of GEMM.
[[nodiscard]] const std::vector<std::string>& problem_names();
/// Those of Problem::facts().
[[nodiscard]] std::vector<std::string> problem_names(const Problem& problem);

/// Which of GEMM's names, and of the likes in other operations, tell the types and the epilogue rather than the sizes:
/// a space may depend on them.
[[nodiscard]] bool is_type_name(const std::string& name);

/// Values of device_names() and problem_names(problem), in their order.
[[nodiscard]] std::vector<std::int64_t> device_values(const DeviceInfo& device);
[[nodiscard]] std::vector<std::int64_t> problem_values(const Problem& problem);

}  // namespace pgtune::space

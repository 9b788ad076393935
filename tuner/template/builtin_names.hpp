// SPDX-License-Identifier: MIT
// The names that every template's expressions may use: facts of the device and of the problem.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::space {

[[nodiscard]] const std::vector<std::string>& device_names();
/// The names for GEMM.
[[nodiscard]] const std::vector<std::string>& problem_names();
/// The names in Problem::facts().
[[nodiscard]] std::vector<std::string> problem_names(const Problem& problem);

/// The names, of GEMM and of other operations, for types and epilogue rather than sizes: a space may depend on them.
[[nodiscard]] bool is_type_name(const std::string& name);

/// Values of device_names() and problem_names(problem), in their order.
[[nodiscard]] std::vector<std::int64_t> device_values(const DeviceInfo& device);
[[nodiscard]] std::vector<std::int64_t> problem_values(const Problem& problem);

}  // namespace pgtune::space

// SPDX-License-Identifier: MIT
// A family as text and JSON: its kernels by intervals of M, and what its probes say.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "tuner/session/family/family_search.hpp"

namespace pgtune::tool {

/// Intervals, probes and loss. At most 80 columns per line.
[[nodiscard]] std::string family_text(const Family& family, const DeviceInfo& device);
/// Of each kernel, the parameters that other kernels of its template have otherwise.
[[nodiscard]] std::string family_kernels_text(const Family& family);
[[nodiscard]] nlohmann::json family_json(const Family& family, const DeviceInfo& device);

/// Of a dry run: anchors, classes and expected times; `expected` is nothing if the database has the family.
[[nodiscard]] std::string family_plan_text(const session::FamilyRequest& request,
                                           const std::optional<session::ExpectedFamily>& expected);
[[nodiscard]] nlohmann::json family_plan_json(const session::FamilyRequest& request,
                                              const std::optional<session::ExpectedFamily>& expected);

/// "about 9m00s in all: 5m00s for kernels, 4m00s for 8 probes".
[[nodiscard]] std::string expected_text(const session::ExpectedFamily& expected, std::size_t probes);

}  // namespace pgtune::tool

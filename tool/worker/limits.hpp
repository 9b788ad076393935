// SPDX-License-Identifier: MIT
// The limits role: what an administrator may have changed of a GPU since a database described it.
#pragma once

#include <string>

namespace pgtune::worker {

/// One JSON line, from NVML alone: {"power_limit_w": 700.0, "mig_mode": false}, or "problem" where NVML does not know
/// the GPU of that UUID.
[[nodiscard]] std::string limits_line(const std::string& uuid);

}  // namespace pgtune::worker

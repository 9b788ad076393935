// SPDX-License-Identifier: MIT
// The limits role: what an administrator may have changed of a GPU since a database described it. The processes role:
// who computes on it. Both ask NVML alone.
#pragma once

#include <string>

namespace pgtune::worker {

/// One JSON line: {"power_limit_w": 700.0, "mig_mode": false}, or "problem" where NVML does not know
/// the GPU of that UUID.
[[nodiscard]] std::string limits_line(const std::string& uuid);

/// One JSON line: {"processes": [GpuProcess...]}, or "problem" likewise.
[[nodiscard]] std::string processes_line(const std::string& uuid);

}  // namespace pgtune::worker

// SPDX-License-Identifier: MIT
// Times as sbatch's --time takes them.
#pragma once

#include <string_view>

#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// Seconds of minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS. Errors (usage): anything else, and no time at all.
[[nodiscard]] Result<double> parse_slurm_time(std::string_view text);

}  // namespace pgtune::tool

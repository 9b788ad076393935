// SPDX-License-Identifier: MIT
// The list role: what GPUs there are, for `pgtune devices` and for choosing one.
#pragma once

#include <string>

namespace pgtune::worker {

/// One JSON line: {"devices": [...], "driver": "...", "nvrtc": "..."}, with "problem" (cause and remedy) where no GPU
/// can be used. Finding none is an answer, not a failure.
[[nodiscard]] std::string list_gpus_line();

}  // namespace pgtune::worker

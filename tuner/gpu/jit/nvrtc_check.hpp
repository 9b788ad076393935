// SPDX-License-Identifier: MIT
// Whether NVRTC works at all. Its version can be read while a part it opens later is missing.
#pragma once

#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// Compiles a kernel of one line. Errors (environment): what NVRTC says, and the remedy.
[[nodiscard]] Result<void> check_nvrtc();

}  // namespace pgtune::gpu

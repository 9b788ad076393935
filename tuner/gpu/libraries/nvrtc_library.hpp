// SPDX-License-Identifier: MIT
// NVRTC, loaded on first use. The nvrtc... functions pgtune uses are defined in the .cpp and forward to the library, so
// code that calls them reads as usual; one that is missing there is a link error.
#pragma once

#include "tuner/gpu/libraries/cuda_library.hpp"

namespace pgtune::gpu {

/// Loads the library; call it before any nvrtc... function (those return NVRTC_ERROR_INTERNAL_ERROR without it). Errors
/// (environment) name the cause and the remedy. Safe to call again.
[[nodiscard]] const Result<OpenedLibrary>& load_nvrtc();

}  // namespace pgtune::gpu

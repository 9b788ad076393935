// SPDX-License-Identifier: MIT
// cuBLASLt, loaded on first use. Linked normally its relocations would cost every compile worker 150 MB and 80 ms, and
// those never call it. The cublasLt... functions pgtune uses are defined in the .cpp and forward to the library, so
// code that calls them reads as usual; one that is missing there is a link error.
#pragma once

#include "tuner/gpu/libraries/cuda_library.hpp"

namespace pgtune::gpu {

/// Loads the library; call it before any cublasLt... function (those return CUBLAS_STATUS_NOT_INITIALIZED without it).
/// Errors (environment) name the cause and the remedy. Safe to call again.
[[nodiscard]] const Result<OpenedLibrary>& load_cublaslt();

}  // namespace pgtune::gpu

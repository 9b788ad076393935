// SPDX-License-Identifier: MIT
// cuBLASLt, loaded on first use. If it were linked, its relocations would cost every compile worker 150 MB and 80 ms,
// although those never call it. The .cpp defines the cublasLt... functions that pgtune uses and forwards them to the
// library; calling one that it lacks is a link error.
#pragma once

#include "tuner/gpu/libraries/cuda_library.hpp"

namespace pgtune::gpu {

/// Loads the library; call it before any cublasLt... function (those return CUBLAS_STATUS_NOT_INITIALIZED without it).
/// Errors (environment) name the cause and the remedy. Safe to call again.
[[nodiscard]] const Result<OpenedLibrary>& load_cublaslt();

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// cuBLAS, for its grouped products: loaded where an operation asks for it, as cuBLASLt is. The cublas... functions that
// pgtune uses are defined in the .cpp and forward to the library.
#pragma once

#include <string>

#include "tuner/gpu/libraries/cuda_library.hpp"

namespace pgtune::gpu {

/// Loads the library; call it before any cublas... function (those return CUBLAS_STATUS_NOT_INITIALIZED without it).
/// Errors (environment) name the cause and the remedy, such as one older than grouped products, which came with 12.5.
/// Safe to call again.
[[nodiscard]] const Result<OpenedLibrary>& load_cublas();

/// "cuBLAS 13.1.0"; "cuBLAS" where it cannot be loaded.
[[nodiscard]] std::string cublas_title();

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// Compiles the worker's own kernels, which are linked into it as text.
#pragma once

#include <span>
#include <string>

#include "cmake/embedded_file.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// The cubin of the first of `files` for an NVRTC target such as "sm_90a"; the others are what it includes, by their
/// paths. Errors (environment): this NVRTC does not know the architecture.
[[nodiscard]] Result<std::string> compile_own_kernels(std::span<const embedded::File> files,
                                                      const std::string& architecture);

}  // namespace pgtune::gpu

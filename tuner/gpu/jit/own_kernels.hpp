// SPDX-License-Identifier: MIT
// Compiles the worker's own kernels, which are linked into it as text.
#pragma once

#include <string>
#include <string_view>

#include "tuner/model/result.hpp"

namespace pgtune::gpu {

/// The cubin of `source` for an NVRTC target such as "sm_90a". `name` is for the compiler's messages. Errors
/// (environment): this NVRTC does not know the architecture.
[[nodiscard]] Result<std::string> compile_own_kernels(std::string_view name, std::string_view source,
                                                      const std::string& architecture);

}  // namespace pgtune::gpu

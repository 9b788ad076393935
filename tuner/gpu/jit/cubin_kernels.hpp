// SPDX-License-Identifier: MIT
// The kernels of a cubin, as its own metadata has them: what they are called and what they take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/launch_plan.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

struct CubinKernel {
  std::string symbol;
  std::vector<std::int64_t> parameter_bytes;  ///< in the order of the kernel's parameters
};

/// In the order of the cubin's symbols. Nothing where it is no cubin, or describes its parameters in a way that
/// is not known here.
/// Source: the ELF specification; the attributes of .nv.info.<kernel> are those that cuobjdump -elf prints
/// as EIATTR_KPARAM_INFO and EIATTR_KPARAM_INFO_V2 (parameters beyond 4 KB), checked with CUDA 13.0.
[[nodiscard]] std::optional<std::vector<CubinKernel>> read_cubin_kernels(std::string_view cubin);

/// Why the kernels of the cubin cannot be launched with these calls, in the words of the JSON that the calls are from;
/// nothing where they can, or where the cubin does not say. `build`: the cubin's, for names that are no symbols.
[[nodiscard]] std::optional<std::string> why_not_callable(std::string_view cubin, const std::vector<KernelCall>& calls,
                                                          const BuildInfo& build = {});

}  // namespace pgtune::gpu

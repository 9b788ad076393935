// SPDX-License-Identifier: MIT
// NVRTC's command line. All but the architecture and the macros' names and values is fixed here; those are checked, so
// that nothing in a template or a request becomes an option of its own.
#pragma once

#include <string>
#include <vector>

#include "tuner/gpu/jit/toolkit.hpp"
#include "tuner/protocol/messages.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// Errors (usage): the architecture is no "sm_90a"; a macro's name is no identifier; its value is neither an integer
/// nor an identifier (which a label is).
[[nodiscard]] Result<std::vector<std::string>> compile_options(const protocol::BuildRequest& request,
                                                               const Toolkit& toolkit);

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// The tables of a header that holds sources instead of machine code (`--jit`).
#pragma once

#include <string>

#include "tool/pgtune/export/callable_header.hpp"

namespace pgtune::tool {

/// kFiles, kJitImages and the most that an image has of headers and options. Each file of the templates is there once.
[[nodiscard]] std::string jit_tables(const CallableHeader& content);

}  // namespace pgtune::tool

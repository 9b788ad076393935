// SPDX-License-Identifier: MIT
// An exported header compiled by the host's compiler, as a program's author would.
#pragma once

#include <filesystem>

#include "tool/pgtune/export/callable_header.hpp"
#include "tool/pgtune/export/verification.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// A shared library in `folder` with the functions of exported/package/consumer.cpp. Errors (environment): there is no
/// compiler (PGTUNE_CXX, else CXX as a path, else c++, g++ or clang++ on PATH) or no cuda.h, or the compiler's own
/// words.
[[nodiscard]] Result<std::filesystem::path> compile_consumer(const std::filesystem::path& folder,
                                                             const CallableHeader& content, const ExportedText& text);

}  // namespace pgtune::tool

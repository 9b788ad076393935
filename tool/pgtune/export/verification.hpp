// SPDX-License-Identifier: MIT
// `pgtune export header --verify`: compares the header in a program on a GPU with the worker's own launches.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/export/callable_header.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// The text and `program`, the text of a source that includes it, compiled by the host's compiler as a program's author
/// would: a shared library in `folder`. Errors (environment): there is no compiler (PGTUNE_CXX, else CXX as a path,
/// else c++, g++ or clang++ on PATH) or no cuda.h, or the compiler's message.
[[nodiscard]] Result<std::filesystem::path> compile_export(const std::filesystem::path& folder,
                                                           const CallableHeader& content, const ExportedText& text,
                                                           const std::string& program);

/// Compiles the text with the host's compiler and runs every entry of a GPU's class there: its result must equal the
/// worker's own launch bit for bit, over poisoned workspaces and between unmapped memory. Returns a sentence with the
/// times. If there is no such GPU, no compiler or no cuda.h, or another pgtune has the GPU, the sentence has the
/// reason; with `asked` this is a CommandError (environment). Nothing: a kernel is wrong, and the terminal has the
/// errors.
[[nodiscard]] std::optional<std::string> verify_export(Context& context, const CallableHeader& content,
                                                       const ExportedText& text, bool asked);

}  // namespace pgtune::tool

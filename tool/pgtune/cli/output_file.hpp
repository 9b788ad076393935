// SPDX-License-Identifier: MIT
// Files that a command was told to write.
#pragma once

#include <filesystem>
#include <string_view>

namespace pgtune::tool {

/// Written under a temporary name and renamed, so that a reader never sees half a file; what is there and no plain file
/// (a device, a pipe, a link) is written to instead of replaced. Throws CommandError (environment).
void write_output_file(const std::filesystem::path& path, std::string_view text);

}  // namespace pgtune::tool

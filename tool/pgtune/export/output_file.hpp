// SPDX-License-Identifier: MIT
// What an export writes.
#pragma once

#include <filesystem>
#include <string>

namespace pgtune::tool {

/// Written under a temporary name and renamed, so that a reader never sees half a file; what is there and no plain file
/// (a device, a pipe, a link) is written to instead of replaced. Throws CommandError (environment).
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace pgtune::tool

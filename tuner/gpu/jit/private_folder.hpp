// SPDX-License-Identifier: MIT
// Folders and files that only this user can have written: what is loaded into the GPU comes from nobody else.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tuner/model/result.hpp"

namespace pgtune::gpu {

/// Creates `folder`, and what is missing above it, with access for the user alone. One that exists already must be the
/// user's own, no symbolic link, and not writable for others. Errors (environment) name folder and cause.
[[nodiscard]] Result<void> make_private_folder(const std::filesystem::path& folder);

/// The whole file, or nothing where it cannot be read, is larger than `max_bytes`, is no regular file (a symbolic link
/// is none either), or belongs to somebody else.
[[nodiscard]] std::optional<std::string> read_own_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace pgtune::gpu

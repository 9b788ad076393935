// SPDX-License-Identifier: MIT
// Whole files that appear at once (readers see the old file, the new one or none, never a part), and folders and files
// that only this user can have written: what is loaded into the GPU comes from nobody else.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/util/result.hpp"

namespace pgtune {

/// Writes to a temporary name in the same folder, syncs, renames over `path`. On an error nothing is left behind.
[[nodiscard]] Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// The whole file, or nothing where it cannot be read.
[[nodiscard]] std::optional<std::string> read_file(const std::filesystem::path& path);

/// Creates `folder`, and what is missing above it, with access for the user alone. One that exists already must be the
/// user's own, no symbolic link, and not writable for others. Errors (environment) name folder and cause.
[[nodiscard]] Result<void> make_private_folder(const std::filesystem::path& folder);

/// The whole file, or nothing where it cannot be read, is larger than `max_bytes`, is no regular file (a symbolic link
/// is none either), or belongs to somebody else.
[[nodiscard]] std::optional<std::string> read_own_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace pgtune

// SPDX-License-Identifier: MIT
// Atomic writes of whole files (readers see the old file, the new one or none, never a part). Also folders and files
// that only this user can have written, so that no other user's code is loaded into the GPU.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/util/result.hpp"

namespace pgtune {

/// Writes to a temporary name in the same folder, syncs, renames over `path`. On an error no temporary file remains.
[[nodiscard]] Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// The whole file, or nothing if it cannot be read (a folder) or is larger than `max_bytes` (a device without an end).
[[nodiscard]] std::optional<std::string> read_file(const std::filesystem::path& path,
                                                   std::size_t max_bytes = std::size_t{1} << 32U);

/// Creates `folder` and missing parents, with access for the user alone. An existing one must be the user's own, no
/// symbolic link, and not writable for others. Errors (environment) name folder and cause.
[[nodiscard]] Result<void> make_private_folder(const std::filesystem::path& folder);

/// The whole file, or nothing if it cannot be read, is larger than `max_bytes`, is no regular file (or a symbolic
/// link), or belongs to another user.
[[nodiscard]] std::optional<std::string> read_own_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace pgtune

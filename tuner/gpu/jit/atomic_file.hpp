// SPDX-License-Identifier: MIT
// Whole files that appear at once: readers see the old file, the new file or none, never a part.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/model/result.hpp"

namespace pgtune::gpu {

/// Writes to a temporary name in the same folder, syncs, renames over `path`. On an error nothing is left behind.
[[nodiscard]] Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// The whole file, or nothing where it cannot be read.
[[nodiscard]] std::optional<std::string> read_file(const std::filesystem::path& path);

}  // namespace pgtune::gpu

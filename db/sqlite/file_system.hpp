// SPDX-License-Identifier: MIT
// Access to a database file's folder, and the journal mode that is safe on its file system.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace pgtune::db {

struct JournalPolicy {
  std::string mode;         ///< PRAGMA journal_mode
  std::string synchronous;  ///< PRAGMA synchronous
};

/// Policy for a file system type of statfs(2).
[[nodiscard]] JournalPolicy journal_policy(std::uint32_t file_system_type);
/// Policy for the folder that holds the database.
[[nodiscard]] JournalPolicy journal_policy(const std::filesystem::path& folder);

/// Creates the folder of a database and its parents. Throws Error.
void create_folder(const std::filesystem::path& folder);

/// May this process (by effective user) write to the existing file or folder?
[[nodiscard]] bool is_writable(const std::filesystem::path& path);

}  // namespace pgtune::db

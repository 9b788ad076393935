// SPDX-License-Identifier: MIT
// What a database file asks of its file system: access, and the journal that is safe there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace pgtune::db {

struct JournalPolicy {
  std::string mode;         ///< PRAGMA journal_mode
  std::string synchronous;  ///< PRAGMA synchronous
};

/// Policy for a file system type as statfs(2) gives it.
[[nodiscard]] JournalPolicy journal_policy(std::uint32_t file_system_type);
/// Policy for the folder that holds the database.
[[nodiscard]] JournalPolicy journal_policy(const std::filesystem::path& folder);

/// Makes the folder of a database and those above it. Throws Error.
void create_folder(const std::filesystem::path& folder);

/// May this process (by effective user) write to the existing file or folder?
[[nodiscard]] bool is_writable(const std::filesystem::path& path);

}  // namespace pgtune::db

// SPDX-License-Identifier: MIT
// The first 100 bytes of a database file: whose it is, before SQLite touches it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace pgtune::db {

struct FileHeader {
  std::int32_t application_id = 0;
  int user_version = 0;
  bool wal = false;  ///< needs its write-ahead log and shared-memory files beside it
};

/// Layout: https://www.sqlite.org/fileformat2.html, section 1.3. Nothing where the bytes are not a SQLite file's.
[[nodiscard]] std::optional<FileHeader> parse_file_header(std::span<const std::byte> bytes);

/// Reads and judges a file's header. Nothing for an empty file, which SQLite takes for a new database. Throws Error
/// where the file is unreadable, no SQLite file, another application's or of another schema.
[[nodiscard]] std::optional<FileHeader> require_own_file(const std::filesystem::path& path, const std::string& origin);

/// Throws Error unless a schema of this application id and version is ours to read. Zero is no application's id.
void require_own_schema(std::int32_t application_id, int user_version, const std::string& origin);

}  // namespace pgtune::db

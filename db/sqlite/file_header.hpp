// SPDX-License-Identifier: MIT
// The first 100 bytes of a database file: which application wrote it, before SQLite opens it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/database.hpp"

namespace pgtune::db {

struct FileHeader {
  std::int32_t application_id = 0;
  int user_version = 0;
  bool wal = false;  ///< needs its write-ahead log and shared-memory files beside it
};

/// Layout: https://www.sqlite.org/fileformat2.html, section 1.3. Nothing if the bytes are not a SQLite file's.
[[nodiscard]] std::optional<FileHeader> parse_file_header(std::span<const std::byte> bytes);

/// Reads and checks a file's header. Nothing for an empty file, which SQLite treats as a new database. Throws Error if
/// the file is unreadable, no SQLite file, another application's or of another schema.
[[nodiscard]] std::optional<FileHeader> require_own_file(const std::filesystem::path& path, const std::string& origin);

/// Throws Error unless this program can read a schema of this application id and version. Zero is no application's id.
void require_own_schema(std::int32_t application_id, int user_version, const std::string& origin);

// Whether the tables, indexes and views of a file are the ones pgtune makes. A file from elsewhere could define others
// under the same names, or triggers.

/// One line for each object that is missing, differs from what pgtune makes, or acts on pgtune's tables (triggers,
/// indexes). Tables and views of other names are not reported. `database` must be of this program's schema. Throws
/// Error.
[[nodiscard]] std::vector<std::string> foreign_objects(const Database& database);

/// Throws Error if foreign_objects() finds any.
void require_own_objects(const Database& database);

}  // namespace pgtune::db

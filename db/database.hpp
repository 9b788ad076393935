// SPDX-License-Identifier: MIT
// One pgtune database file: open, migrate, check. Depends on neither CUDA nor the search.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cmake/embedded_file.hpp"

struct sqlite3;

namespace pgtune::db {

struct Image;

/// Every database failure: message with cause and remedy, SQLite's extended code (0 when it is not SQLite's).
class Error : public std::runtime_error {
 public:
  Error(const std::string& message, int extended_code) : std::runtime_error(message), extended_code_(extended_code) {}
  [[nodiscard]] int extended_code() const { return extended_code_; }

 private:
  int extended_code_;
};

/// "pgtn" as PRAGMA application_id: marks a SQLite file as pgtune's.
inline constexpr std::int32_t kApplicationId = 0x7067746e;
/// PRAGMA user_version written by this program.
inline constexpr int kSchemaVersion = 1;

enum class OpenMode {
  kReadOnly,
  kReadOnlyAsIs,  ///< accepts any objects: for check() only, as queries may not fit
  kReadWriteCreate,
};

/// Whether there is no such file. False if that is unknown, for example in an unreadable folder: opening the file then
/// reports why.
[[nodiscard]] bool is_absent(const std::filesystem::path& path);

class Database {
 public:
  /// Creates missing parent folders and the schema in kReadWriteCreate. Reads files compressed by zstd and named .zst.
  /// Throws Error if the file is missing, read-only or no database; is another application's, or of another schema
  /// version (it stays untouched); has tables or triggers that are not pgtune's; or has no schema and is opened
  /// read-only.
  [[nodiscard]] static Database open(const std::filesystem::path& path, OpenMode mode);
  /// Opens bytes in memory, read-only (the embedded recordings), compressed by zstd or not. The bytes must outlive the
  /// database.
  [[nodiscard]] static Database open_image(std::span<const std::byte> image, const std::string& origin);
  /// A private in-memory database with the schema.
  [[nodiscard]] static Database open_memory();
  /// A private database in the system's folder of temporary files, deleted on closing; for content larger than memory.
  [[nodiscard]] static Database open_temporary();

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  [[nodiscard]] sqlite3* handle() const { return handle_; }
  /// File name or origin, for messages.
  [[nodiscard]] const std::string& origin() const { return origin_; }
  [[nodiscard]] int schema_version() const;
  [[nodiscard]] std::string journal_mode() const;
  /// PRAGMA integrity_check and foreign_key_check, and whether the schema is pgtune's; empty when sound, else one line
  /// per problem.
  [[nodiscard]] std::vector<std::string> check() const;
  /// Rewrites the file without free pages.
  void vacuum();
  /// Writes a compact copy into one file (no write-ahead log), which can ship as a recording and be opened with
  /// open_image. A name that ends with .zst is compressed. Copies of one state are equal byte for byte. Replaces `path`
  /// atomically or, on Error, leaves it unchanged.
  void write_compact_copy(const std::filesystem::path& path) const;

 private:
  Database(sqlite3* handle, std::string origin);
  /// `owned`: owns the bytes of `image`, or null.
  static Database open_bytes(std::span<const std::byte> image, Image* owned, const std::string& origin);
  static Database connect(const std::string& name, int flags, const std::string& origin);
  static Database connect_for_reading(const std::filesystem::path& path, bool wal, const std::string& origin);
  static Database open_for_reading(const std::filesystem::path& path, bool as_is);
  static Database open_for_writing(const std::filesystem::path& path);
  sqlite3* handle_ = nullptr;
  std::string origin_;
};

// Migrates a database to the schema of this program.

/// SQL files: the first creates schema 1 in an empty database, each later one migrates to the next schema.
using SchemaSteps = std::span<const embedded::File>;
/// Those of this program, up to kSchemaVersion.
[[nodiscard]] SchemaSteps schema_steps();

/// Runs the migrations that a database lacks, in one transaction. Throws Error for another application's database and
/// for a schema that this program does not know, changing nothing.
void migrate(const Database& database, SchemaSteps steps = schema_steps());

/// Throws Error unless the database is pgtune's and of this program's schema.
void require_schema(const Database& database);

}  // namespace pgtune::db

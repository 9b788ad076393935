// SPDX-License-Identifier: MIT
// One pgtune database file: open, migrate, check. Knows no CUDA and no search.
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

/// "pgtn" as PRAGMA application_id: says that a SQLite file is ours.
inline constexpr std::int32_t kApplicationId = 0x7067746e;
/// PRAGMA user_version written by this program.
inline constexpr int kSchemaVersion = 1;

enum class OpenMode {
  kReadOnly,
  kReadOnlyAsIs,  ///< whatever its objects: for check() only, as queries may not fit
  kReadWriteCreate,
};

/// Whether there is no such file. False where that cannot be said, as in a folder that nobody may look into: opening it
/// says why.
[[nodiscard]] bool is_absent(const std::filesystem::path& path);

class Database {
 public:
  /// Creates missing parent folders and the schema in kReadWriteCreate. Throws Error for: not a database, somebody
  /// else's database, another schema version (file left untouched), tables or triggers that are not pgtune's, no schema
  /// at all opened read-only, read-only file or folder, no such file. A file named .zst, which zstd compressed, can be
  /// read.
  [[nodiscard]] static Database open(const std::filesystem::path& path, OpenMode mode);
  /// Opens bytes in memory, read-only (the embedded recordings), compressed by zstd or not. The bytes must outlive the
  /// database.
  [[nodiscard]] static Database open_image(std::span<const std::byte> image, const std::string& origin);
  /// A private in-memory database with the schema.
  [[nodiscard]] static Database open_memory();
  /// A private database in the system's folder of temporary files, gone when closed; for more than memory may hold.
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
  /// a problem.
  [[nodiscard]] std::vector<std::string> check() const;
  /// Rewrites the file without free pages.
  void vacuum();
  /// Writes a compact copy that is complete in one file (no write-ahead log), fit to be shipped as a recording and
  /// opened with open_image; a name that ends with .zst is compressed. Copies of one state are equal byte for byte.
  /// Replaces `path` at once or, on Error, leaves it as it was.
  void write_compact_copy(const std::filesystem::path& path) const;

 private:
  Database(sqlite3* handle, std::string origin);
  /// `owned`: whose bytes `image` is, or null.
  static Database open_bytes(std::span<const std::byte> image, Image* owned, const std::string& origin);
  static Database connect(const std::string& name, int flags, const std::string& origin);
  static Database connect_for_reading(const std::filesystem::path& path, bool wal, const std::string& origin);
  static Database open_for_reading(const std::filesystem::path& path, bool as_is);
  static Database open_for_writing(const std::filesystem::path& path);
  sqlite3* handle_ = nullptr;
  std::string origin_;
};

// Brings a database to the schema of this program.

/// SQL files: the first makes schema 1 in an empty database, each other one the next schema of the one before.
using SchemaSteps = std::span<const embedded::File>;
/// Those of this program, up to kSchemaVersion.
[[nodiscard]] SchemaSteps schema_steps();

/// Takes the steps that a database lacks, in one transaction. Throws Error for another application's database and for a
/// schema that this program does not know, changing nothing.
void migrate(const Database& database, SchemaSteps steps = schema_steps());

/// Throws Error unless the database is pgtune's and of this program's schema.
void require_schema(const Database& database);

}  // namespace pgtune::db

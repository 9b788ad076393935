// SPDX-License-Identifier: MIT
#include "db/database.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "db/sqlite/compressed_image.hpp"
#include "db/sqlite/file_header.hpp"
#include "db/sqlite/file_system.hpp"
#include "db/sqlite/statement.hpp"
#include "db_schema.hpp"

namespace pgtune::db {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyTimeoutMs = 60'000;
/// The longest text or row of a file; pgtune's own have about ten kilobytes.
constexpr int kLongestValueBytes = 16 << 20;

/// A file may come from elsewhere: its schema must not run code (triggers, functions) or change SQLite's own tables,
/// and no value may make pgtune allocate without bound. https://www.sqlite.org/security.html
void distrust_content(sqlite3* handle) {
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValueBytes);
}

fs::path folder_of(const fs::path& path) { return fs::absolute(path).parent_path(); }

void require_regular_file(const fs::path& path) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  if (fs::is_directory(status)) {
    throw Error(path.string() + " is a folder, not a pgtune database. Name a file with --db", 0);
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(path.string() + " is not a regular file and cannot hold a database. Name another with --db", 0);
  }
}

void require_writable(const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && !is_writable(path)) {
    throw Error(
        "database " + path.string() + " is read-only. Make it writable (chmod u+w) or use another file with --db",
        SQLITE_READONLY);
  }
  const auto folder = folder_of(path);
  if (!is_writable(folder)) {
    throw Error("folder " + folder.string() + " is read-only, database " + path.string() +
                    " and its journal cannot be written there. Make the folder writable or use another file with --db",
                SQLITE_READONLY_DIRECTORY);
  }
}

/// A file name as a URI for SQLite, https://www.sqlite.org/uri.html.
std::string immutable_uri(const fs::path& path) {
  std::string uri = "file:";
  for (const char c : path.string()) {
    if (c == '%') {
      uri += "%25";
    } else if (c == '?') {
      uri += "%3f";
    } else if (c == '#') {
      uri += "%23";
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

/// True if the file has a write-ahead log with content: a writer is active or was killed.
bool has_log(const fs::path& path) {
  std::error_code ignored;
  const auto size = fs::file_size(path.string() + "-wal", ignored);
  return !ignored && size > 0;
}

void set_journal(const Database& database, const JournalPolicy& policy) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyTimeoutMs);
  while (database.journal_mode() != policy.mode) {
    try {
      // The pragma returns the mode now in force: a file system without shared memory keeps the old one.
      if (query_text(database, "PRAGMA journal_mode = " + policy.mode) != policy.mode) {
        execute(database, "PRAGMA synchronous = full");
        return;
      }
    } catch (const Error& error) {
      // SQLite does not use its busy timeout here, as the switch needs the file for itself.
      if ((error.extended_code() & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() > deadline) {
        throw;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  execute(database, "PRAGMA synchronous = " + policy.synchronous);
}

}  // namespace

bool is_absent(const fs::path& path) {
  std::error_code error;
  return !fs::exists(path, error) && !error;
}

Database::Database(sqlite3* handle, std::string origin) : handle_(handle), origin_(std::move(origin)) {}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), origin_(std::move(other.origin_)) {}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(origin_, other.origin_);
  return *this;
}

Database::~Database() { sqlite3_close_v2(handle_); }

Database Database::connect(const std::string& name, int flags, const std::string& origin) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  Database database(handle, origin);
  if (code != SQLITE_OK) {
    throw_sqlite_error(handle, origin);
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  distrust_content(handle);
  execute(database, "PRAGMA foreign_keys = on; PRAGMA cell_size_check = on");
  return database;
}

Database Database::open(const fs::path& path, OpenMode mode) {
  require_regular_file(path);
  if (mode == OpenMode::kReadWriteCreate) {
    return open_for_writing(path);
  }
  return open_for_reading(path, mode == OpenMode::kReadOnlyAsIs);
}

Database Database::connect_for_reading(const fs::path& path, bool wal, const std::string& origin) {
  if (!wal) {
    return connect(path.string(), SQLITE_OPEN_READONLY, origin);
  }
  // Even reading creates the log's files, and only a connection with write access removes them at the end.
  if (is_writable(path) && is_writable(path.parent_path())) {
    Database database = connect(path.string(), SQLITE_OPEN_READWRITE, origin);
    execute(database, "PRAGMA query_only = on");
    return database;
  }
  // If that is forbidden and there is no log to read, open the file as immutable. A process with write access could
  // change it meanwhile; pgtune's reads are short.
  if (!is_writable(path.parent_path()) && !has_log(path)) {
    return connect(immutable_uri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, origin);
  }
  return connect(path.string(), SQLITE_OPEN_READONLY, origin);
}

Database Database::open_for_reading(const fs::path& path, bool as_is) {
  const std::string origin = path.string();
  if (is_absent(path)) {
    throw Error("there is no database " + origin + ". Make one with 'pgtune search' or name another", 0);
  }
  if (is_compressed(path)) {
    Image image = decompress_file(path);
    return open_bytes(image.span(), &image, origin);
  }
  const auto header = require_own_file(path, origin);
  if (!header) {
    throw Error(origin + " is not a pgtune database: it is empty. Make one with 'pgtune search' or name another", 0);
  }
  Database database = connect_for_reading(fs::absolute(path), header->wal, origin);
  require_schema(database);
  if (!as_is) {
    require_own_objects(database);
  }
  return database;
}

Database Database::open_for_writing(const fs::path& path) {
  const std::string origin = path.string();
  if (is_compressed(path) && is_absent(path))
    throw Error(origin + " would be a compressed copy by its name, which can only be read. Name a file without .zst",
                0);
  create_folder(folder_of(path));
  if (std::error_code ignored; fs::exists(path, ignored)) {
    static_cast<void>(require_own_file(path, origin));
  }
  require_writable(path);
  Database database = connect(fs::absolute(path).string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, origin);
  // The journal comes last: a file that is not pgtune's must not be changed.
  migrate(database);
  require_own_objects(database);
  set_journal(database, journal_policy(folder_of(path)));
  return database;
}

Database Database::open_image(std::span<const std::byte> image, const std::string& origin) {
  if (is_compressed(image)) {
    Image decompressed = decompress(image, origin);
    return open_bytes(decompressed.span(), &decompressed, origin);
  }
  return open_bytes(image, nullptr, origin);
}

Database Database::open_bytes(std::span<const std::byte> image, Image* owned, const std::string& origin) {
  const auto header = parse_file_header(image);
  if (!header) {
    throw Error(origin + " is not a pgtune database: it is no SQLite image", 0);
  }
  if (header->wal) {
    throw Error(origin + " needs a write-ahead log, which an image cannot have. Ship a compact copy of the database",
                0);
  }
  Database database = connect(":memory:", SQLITE_OPEN_READWRITE, origin);
  // SQLite takes a pointer to non-const but does not write through it if the image is read-only.
  auto* bytes = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(image.data()));
  const auto size = static_cast<sqlite3_int64>(image.size());
  unsigned flags = SQLITE_DESERIALIZE_READONLY;
  if (owned != nullptr) {
    static_cast<void>(owned->bytes.release());  // SQLite frees it, also on failure
    flags |= SQLITE_DESERIALIZE_FREEONCLOSE;
  }
  if (sqlite3_deserialize(database.handle(), "main", bytes, size, size, flags) != SQLITE_OK) {
    throw_sqlite_error(database.handle(), origin);
  }
  require_schema(database);
  require_own_objects(database);
  return database;
}

Database Database::open_memory() {
  Database database = connect(":memory:", SQLITE_OPEN_READWRITE, "in memory");
  migrate(database);
  return database;
}

Database Database::open_temporary() {
  // SQLite's name for such a file: https://www.sqlite.org/inmemorydb.html, section 3.
  Database database = connect("", SQLITE_OPEN_READWRITE, "of temporary files");
  migrate(database);
  return database;
}

int Database::schema_version() const { return static_cast<int>(query_integer(*this, "PRAGMA user_version")); }

std::string Database::journal_mode() const { return query_text(*this, "PRAGMA journal_mode"); }

namespace {

std::int32_t application_id(const Database& database) {
  return static_cast<std::int32_t>(query_integer(database, "PRAGMA application_id"));
}

bool is_empty(const Database& database) {
  return application_id(database) == 0 && query_integer(database, "SELECT count(*) FROM sqlite_schema") == 0;
}

void require_own_or_empty(const Database& database) {
  if (!is_empty(database)) {
    require_own_schema(application_id(database), database.schema_version(), database.origin());
  }
}

}  // namespace

SchemaSteps schema_steps() { return embedded::db_schema(); }

void migrate(const Database& database, SchemaSteps steps) {
  require_own_or_empty(database);
  if (database.schema_version() == static_cast<int>(steps.size())) {
    return;
  }
  Transaction transaction(database, TransactionKind::kWrite);
  // Another process may have migrated the file while this one waited for the lock.
  require_own_or_empty(database);
  for (const auto& step : steps.subspan(static_cast<std::size_t>(database.schema_version()))) {
    execute(database, std::string(step.contents));
  }
  execute(database, "PRAGMA application_id = " + std::to_string(kApplicationId));
  execute(database, "PRAGMA user_version = " + std::to_string(steps.size()));
  transaction.commit();
}

void require_schema(const Database& database) {
  require_own_schema(application_id(database), database.schema_version(), database.origin());
  if (database.schema_version() < kSchemaVersion) {
    throw Error("database " + database.origin() +
                    " holds nothing yet: the pgtune that began it was stopped. Make it with 'pgtune search' or name "
                    "another with --db",
                0);
  }
}

}  // namespace pgtune::db

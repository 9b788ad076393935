// SPDX-License-Identifier: MIT
#include "db/sqlite/file_header.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>

#include "db/database.hpp"
#include "db/sqlite/compressed_image.hpp"
#include "db/sqlite/statement.hpp"

namespace pgtune::db {
namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);

std::int32_t big_endian(std::span<const std::byte> bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8 | std::to_integer<std::uint32_t>(bytes[offset + i]);
  }
  return static_cast<std::int32_t>(value);
}

/// Reads through SQLite: closing a file opened outside it would drop the locks that another connection of this process
/// holds on it (https://www.sqlite.org/howtocorrupt.html, section 2.2).
std::size_t read_begin(const std::filesystem::path& path, const std::string& origin,
                       std::array<char, kHeaderBytes>& buffer) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(std::filesystem::absolute(path).c_str(), &handle, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)> closed_at_end(handle, &sqlite3_close_v2);
  sqlite3_file* file = nullptr;
  sqlite3_int64 file_size = 0;
  if (code != SQLITE_OK || sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
      file->pMethods == nullptr || file->pMethods->xFileSize(file, &file_size) != SQLITE_OK) {
    throw Error("cannot read database " + origin + ": " + std::strerror(sqlite3_system_errno(handle)) +
                    ". Check its permissions or name another file",
                sqlite3_extended_errcode(handle));
  }
  const auto size = static_cast<std::size_t>(std::min<sqlite3_int64>(file_size, kHeaderBytes));
  if (size > 0 && file->pMethods->xRead(file, buffer.data(), static_cast<int>(size), 0) != SQLITE_OK) {
    throw Error("cannot read database " + origin + ". Check the disk or name another file", 0);
  }
  return size;
}

}  // namespace

std::optional<FileHeader> parse_file_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return std::nullopt;
  }
  FileHeader header;
  header.wal = std::to_integer<int>(bytes[18]) == 2 || std::to_integer<int>(bytes[19]) == 2;
  header.user_version = big_endian(bytes, 60);
  header.application_id = big_endian(bytes, 68);
  return header;
}

std::optional<FileHeader> require_own_file(const std::filesystem::path& path, const std::string& origin) {
  std::array<char, kHeaderBytes> buffer{};
  const std::size_t size = read_begin(path, origin, buffer);
  if (size == 0) {
    return std::nullopt;
  }
  const auto begin = std::as_bytes(std::span(buffer).first(size));
  if (is_compressed(begin)) {
    throw Error(origin +
                    " is a compressed copy, which can only be read. 'pgtune db copy --db FILE.zst -o FILE.db' makes "
                    "one that can be written",
                0);
  }
  const auto header = parse_file_header(begin);
  if (!header) {
    throw Error(origin + " is not a pgtune database: it is no SQLite file. Name a database of pgtune", 0);
  }
  // A file whose creation was interrupted has no id yet; then the schema decides.
  if (header->application_id != 0) {
    require_own_schema(header->application_id, header->user_version, origin);
  }
  return header;
}

void require_own_schema(std::int32_t application_id, int user_version, const std::string& origin) {
  if (application_id != kApplicationId) {
    throw Error(
        origin + " is not a pgtune database: it is another application's SQLite file. Name a database of pgtune", 0);
  }
  if (user_version < 0 || user_version > kSchemaVersion) {
    throw Error("database " + origin + " is of schema version " + std::to_string(user_version) +
                    ", which this pgtune (schema version " + std::to_string(kSchemaVersion) +
                    ") does not know. The file was left untouched: open it with the pgtune that wrote it, or use "
                    "another file",
                0);
  }
}

namespace {

struct Object {
  std::string type, table, sql;
  bool operator==(const Object& other) const = default;
};

/// By name, without SQLite's own.
std::map<std::string, Object> objects(const Database& database) {
  Statement statement(database,
                      "SELECT name, type, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
                      " ORDER BY name");
  std::map<std::string, Object> found;
  while (statement.step()) {
    std::string name;
    Object object;
    statement >> name >> object.type >> object.table >> object.sql;
    found[name] = std::move(object);
  }
  return found;
}

bool is_harmless(const Object& object, const std::map<std::string, Object>& own) {
  if (object.type == "view") {
    return true;
  }
  constexpr std::string_view kPlainTable = "CREATE TABLE";
  return object.type == "table" ? object.sql.starts_with(kPlainTable)
                                : object.type == "index" && !own.contains(object.table);
}

}  // namespace

std::vector<std::string> foreign_objects(const Database& database) {
  std::vector<std::string> problems;
  static const auto own = objects(Database::open_memory());
  const auto found = objects(database);
  for (const auto& [name, object] : own) {
    const auto same = found.find(name);
    if (same == found.end()) {
      problems.push_back(object.type + " " + name + " is missing");
    } else if (same->second != object) {
      problems.push_back(object.type + " " + name + " is not as pgtune makes it");
    }
  }
  for (const auto& [name, object] : found) {
    if (!own.contains(name) && !is_harmless(object, own)) {
      problems.push_back(object.type + " " + name + " is not pgtune's");
    }
  }
  return problems;
}

void require_own_objects(const Database& database) {
  const auto problems = foreign_objects(database);
  if (problems.empty()) {
    return;
  }
  const std::string more = problems.size() > 1 ? " (and " + std::to_string(problems.size() - 1) + " more)" : "";
  throw Error("database " + database.origin() + " was changed by something else than pgtune: " + problems.front() +
                  more + ". Drop what is not pgtune's, restore the file from a copy, or name another",
              0);
}

}  // namespace pgtune::db

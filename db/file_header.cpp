// SPDX-License-Identifier: MIT
#include "db/file_header.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "db/database.hpp"

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
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error("cannot read database " + origin + ": " + std::strerror(errno) +
                    ". Check its permissions or name another file with --db",
                0);
  }
  std::array<char, kHeaderBytes> buffer{};
  file.read(buffer.data(), buffer.size());
  const auto size = static_cast<std::size_t>(file.gcount());
  if (size == 0) {
    return std::nullopt;
  }
  const auto header = parse_file_header(std::as_bytes(std::span(buffer).first(size)));
  if (!header) {
    throw Error(origin + " is not a pgtune database: it is no SQLite file. Name another file with --db", 0);
  }
  // A file killed at birth has no id yet; the schema decides then.
  if (header->application_id != 0) {
    require_own_schema(header->application_id, header->user_version, origin);
  }
  return header;
}

void require_own_schema(std::int32_t application_id, int user_version, const std::string& origin) {
  if (application_id != kApplicationId) {
    throw Error(
        origin + " is not a pgtune database: it is another application's SQLite file. Name another file with --db", 0);
  }
  if (user_version > kSchemaVersion) {
    throw Error("database " + origin + " was written by a newer pgtune (schema version " +
                    std::to_string(user_version) + ", this one knows up to " + std::to_string(kSchemaVersion) +
                    "). The file was left untouched: update pgtune or use another file with --db",
                0);
  }
}

}  // namespace pgtune::db

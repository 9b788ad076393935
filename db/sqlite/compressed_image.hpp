// SPDX-License-Identifier: MIT
// Databases compressed by zstd; recordings ship in this form.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace pgtune::db {

/// Memory of sqlite3_malloc64(), which SQLite may free.
struct FreeImage {
  void operator()(std::byte* image) const;
};
struct Image {
  std::unique_ptr<std::byte, FreeImage> bytes;
  std::size_t size = 0;
  [[nodiscard]] std::span<const std::byte> span() const { return {bytes.get(), size}; }
};

/// Whether the bytes begin as zstd's frames do (RFC 8878, section 3.1.1).
[[nodiscard]] bool is_compressed(std::span<const std::byte> bytes);
/// Decides by the name's suffix .zst: opening and closing the file outside SQLite would drop the locks of this
/// process's connections to it.
[[nodiscard]] bool is_compressed(const std::filesystem::path& path);

/// Throws Error if the bytes are damaged or claim more than 1 GiB.
[[nodiscard]] Image decompress(std::span<const std::byte> bytes, const std::string& origin);
[[nodiscard]] Image decompress_file(const std::filesystem::path& path);
/// Replaces the file's bytes by compressed ones. Throws Error if it cannot be written.
void compress_file(const std::filesystem::path& path);

}  // namespace pgtune::db

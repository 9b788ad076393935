// SPDX-License-Identifier: MIT
#include "db/sqlite/compressed_image.hpp"

#include <sqlite3.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "db/database.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::db {
namespace {

constexpr unsigned long long kMostBytes = 1ULL << 30U;
constexpr std::array kFrameMagic{std::byte{0x28}, std::byte{0xb5}, std::byte{0x2f}, std::byte{0xfd}};

std::string bytes_of(const std::filesystem::path& path) {
  if (auto bytes = read_file(path)) return std::move(*bytes);
  throw Error("cannot read " + path.string(), 0);
}

}  // namespace

void FreeImage::operator()(std::byte* image) const { sqlite3_free(image); }

bool is_compressed(std::span<const std::byte> bytes) {
  return bytes.size() >= kFrameMagic.size() && std::equal(kFrameMagic.begin(), kFrameMagic.end(), bytes.begin());
}

bool is_compressed(const std::filesystem::path& path) { return path.extension() == ".zst"; }

Image decompress(std::span<const std::byte> bytes, const std::string& origin) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  static_assert(ZSTD_CONTENTSIZE_ERROR > kMostBytes && ZSTD_CONTENTSIZE_UNKNOWN > kMostBytes);
  if (size == ZSTD_CONTENTSIZE_ERROR)
    throw Error(origin + " is not a compressed database, as its name says. Name another file, or rename it", 0);
  if (size > kMostBytes)
    throw Error(origin + " is not a pgtune database: it would be larger than 1 GiB. Name a database of pgtune", 0);
  Image image{std::unique_ptr<std::byte, FreeImage>(static_cast<std::byte*>(sqlite3_malloc64(size + 1))),
              static_cast<std::size_t>(size)};
  if (!image.bytes) throw Error("there is no memory to decompress " + origin, 0);
  const std::size_t done = ZSTD_decompress(image.bytes.get(), image.size, bytes.data(), bytes.size());
  if (ZSTD_isError(done) != 0 || done != image.size)
    throw Error(origin + " is damaged: it cannot be decompressed. Take another copy of it", 0);
  return image;
}

Image decompress_file(const std::filesystem::path& path) {
  const std::string bytes = bytes_of(path);
  return decompress(std::as_bytes(std::span(bytes)), path.string());
}

void compress_file(const std::filesystem::path& path) {
  constexpr int kLevel = 19;  // recordings are written once
  const std::string bytes = bytes_of(path);
  if (bytes.size() > kMostBytes)
    throw Error(path.string() + " is larger than 1 GiB, the most that is compressed. Name a file without .zst", 0);
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) != 0) throw Error("cannot compress " + path.string() + ": " + ZSTD_getErrorName(size), 0);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file.write(out.data(), static_cast<std::streamsize>(size)) || !file.flush())
    throw Error("cannot write " + path.string() + ". Look at the free space", 0);
}

}  // namespace pgtune::db

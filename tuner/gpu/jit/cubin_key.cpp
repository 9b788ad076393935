// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/cubin_key.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace pgtune::gpu {
namespace {

// Bumped when the meaning of a field or of a stored BuildInfo changes: older entries are then never found.
constexpr std::string_view kKeyVersion = "1";

constexpr char kTextField = 't';
constexpr char kContentsField = 'c';

void append_length(std::string& out, std::size_t length) {
  auto rest = static_cast<std::uint64_t>(length);
  for (int byte = 0; byte < 8; ++byte, rest >>= 8U) out += static_cast<char>(rest & 0xffU);
}

}  // namespace

std::string content_hash(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  std::string hex;
  for (const unsigned char byte : canonical.digest) fmt::format_to(std::back_inserter(hex), "{:02x}", byte);
  return hex;
}

CubinKey::CubinKey() { add_text("key_version", kKeyVersion); }

void CubinKey::add_text(std::string_view name, std::string_view value) {
  append(kTextField, name, value);
  description_.emplace_back(name, value);
}

void CubinKey::add_contents(std::string_view name, std::string_view contents) {
  append(kContentsField, name, contents);
  description_.emplace_back(name, fmt::format("{} bytes, xxh3 {}", contents.size(), content_hash(contents)));
}

std::string CubinKey::hash() const { return content_hash(encoded_); }

void CubinKey::append(char type, std::string_view name, std::string_view value) {
  encoded_ += type;
  append_length(encoded_, name.size());
  encoded_ += name;
  append_length(encoded_, value.size());
  encoded_ += value;
}

}  // namespace pgtune::gpu

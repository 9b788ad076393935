// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4), for other formats that need it. pgtune's own content names use XXH128.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace pgtune {

[[nodiscard]] std::array<std::uint8_t, 32> sha256(std::string_view bytes);
/// The digest in base64 (RFC 4648), as a Content-Security-Policy names a script.
[[nodiscard]] std::string sha256_base64(std::string_view bytes);

}  // namespace pgtune

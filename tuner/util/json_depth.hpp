// SPDX-License-Identifier: MIT
// A guard for untrusted JSON.
#pragma once

#include <string_view>

namespace pgtune {

/// Far deeper than any of pgtune's own documents.
inline constexpr int kMaxJsonDepth = 64;

/// Whether arrays and objects nest deeper than kMaxJsonDepth. nlohmann/json parses any depth, but copies and prints by
/// recursion: a few hundred KiB of '[' would end the program by overflowing its stack.
[[nodiscard]] bool json_too_deep(std::string_view text);

}  // namespace pgtune

// SPDX-License-Identifier: MIT
// What is fuzzed: everything that reads text or files from elsewhere. A target takes any bytes and returns; an
// exception that escapes, a sanitizer's finding or a broken promise (std::abort) is a bug. The names are also those of
// the folders of the corpus and of libFuzzer's programs.
#pragma once

#include <string_view>

namespace pgtune::fuzz {

// PGTUNE_TARGETS is PGTUNE_TARGET(name) of each, from CMakeLists.txt.
#define PGTUNE_TARGET(name) void name(std::string_view bytes);
PGTUNE_TARGETS
#undef PGTUNE_TARGET

struct Target {
  std::string_view name;
  void (*run)(std::string_view);
};

#define PGTUNE_TARGET(name) {#name, name},
inline constexpr Target kTargets[] = {PGTUNE_TARGETS};
#undef PGTUNE_TARGET

}  // namespace pgtune::fuzz

// SPDX-License-Identifier: MIT
// Numbers and durations of options. CLI11 reads 010 as octal and cuts what does not fit, so options take text.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/session/search_session.hpp"

namespace pgtune::tool {

/// A whole number from `least` on. Throws CommandError (usage) naming the option.
[[nodiscard]] std::int64_t parse_count(const std::string& option, const std::string& text, std::int64_t least);
/// --rounds. Throws CommandError (usage).
[[nodiscard]] int parse_rounds(const std::string& text);
/// A finite decimal number. Throws CommandError (usage) naming the option.
[[nodiscard]] double parse_real(const std::string& option, const std::string& text);
/// A positive time: "60s", "5m", "1h". Throws CommandError (usage) naming the option.
[[nodiscard]] double parse_seconds(const std::string& option, const std::string& text);
/// --budget: seconds ("60s", "5m", "1h") or a number of variants ("500"). Throws CommandError (usage).
[[nodiscard]] session::Budget parse_budget(const std::string& text);

}  // namespace pgtune::tool

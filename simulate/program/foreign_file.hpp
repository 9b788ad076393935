// SPDX-License-Identifier: MIT
// Files of other tuners: T4 results and Kernel Tuner's caches.
#pragma once

#include <string>
#include <string_view>

#include "simulate/program/foreign_table.hpp"

namespace pgtune::tool {

enum class ForeignFormat { kT4, kKernelTuner };
/// "t4", "kernel_tuner".
[[nodiscard]] EnumTable<ForeignFormat> enum_table(ForeignFormat format);

/// The table in `text`, whose fields decide the format; `origin` names it in messages. Failed configurations become
/// rows with the matching outcome; those without a meaningful time are left out. A Kernel Tuner cache that was not
/// closed and ends in a comma is valid, too. Errors (usage): what is wrong with it.
[[nodiscard]] Result<ForeignTable> parse_foreign_table(std::string_view text, const std::string& origin);

/// The same of a file. Throws CommandError (usage).
[[nodiscard]] ForeignTable read_foreign_table(const std::string& path);
/// The same of a file that must be of `format`, with the space of the T1 file `space` if it is named.
[[nodiscard]] ForeignTable read_foreign_table(const std::string& path, ForeignFormat format, const std::string& space);

[[nodiscard]] std::string write_foreign_table(const ForeignTable& table, ForeignFormat format);

}  // namespace pgtune::tool

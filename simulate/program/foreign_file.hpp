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

/// The table in `text`, which is one or the other by its fields; `origin` names it in messages. Failed configurations
/// are rows with outcomes of their kinds, those without a time that means anything are left out. Kernel Tuner: a cache
/// that was not closed, with a comma at its end, is whole too. Errors (usage): what is wrong with it.
[[nodiscard]] Result<ForeignTable> parse_foreign_table(std::string_view text, const std::string& origin);

/// The same of a file. Throws CommandError (usage).
[[nodiscard]] ForeignTable read_foreign_table(const std::string& path);
/// The same of a file that must be of `format`, with the space of a T1 file where `space` names one.
[[nodiscard]] ForeignTable read_foreign_table(const std::string& path, ForeignFormat format, const std::string& space);

[[nodiscard]] std::string write_foreign_table(const ForeignTable& table, ForeignFormat format);

}  // namespace pgtune::tool

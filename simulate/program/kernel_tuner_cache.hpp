// SPDX-License-Identifier: MIT
// Caches of Kernel Tuner: JSON after its cache schema 1.1.0, and older ones, which have the same rows.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "simulate/program/foreign_table.hpp"

namespace pgtune::tool {

/// Whether `document` has the fields of a cache.
[[nodiscard]] bool is_kernel_tuner_cache(const nlohmann::json& document);

/// Precondition: is_kernel_tuner_cache(). Errors (usage): what is wrong with it.
[[nodiscard]] Result<ForeignTable> read_kernel_tuner_cache(const nlohmann::json& document);

/// The text of a cache that Kernel Tuner can resume from or simulate in. pgtune's own fields hold what the format
/// lacks: `restrictions` (the space's constraints), and in rows `__outcome__`, `__reason__` and `__cut__`.
[[nodiscard]] std::string write_kernel_tuner_cache(const ForeignTable& table);

}  // namespace pgtune::tool

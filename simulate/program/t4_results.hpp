// SPDX-License-Identifier: MIT
// T4 result files of the autotuning community, and the space in its T1 input files: JSON after schemas 1.0.0, read
// tolerantly.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "simulate/program/foreign_table.hpp"

namespace pgtune::tool {

/// Whether `document` has the fields of a T4 file.
[[nodiscard]] bool is_t4(const nlohmann::json& document);

/// Precondition: is_t4(). The time is the first objective's, else "time". Errors (usage): what is wrong with it.
[[nodiscard]] Result<ForeignTable> read_t4(const nlohmann::json& document);

/// T4 has no fields for device, kernel, problem and space, so they are in `metadata`. A row has pgtune's `outcome` and
/// `reason` next to `invalidity`.
[[nodiscard]] std::string write_t4(const ForeignTable& table);

/// Takes parameters' values and the constraints from a T1 file's `ConfigurationSpace`, as text: nothing is evaluated.
/// Errors (usage): what is wrong with it, or that it lacks the table's parameters.
[[nodiscard]] Result<void> add_t1_space(const nlohmann::json& document, ForeignTable& table);

}  // namespace pgtune::tool

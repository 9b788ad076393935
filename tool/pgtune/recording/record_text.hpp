// SPDX-License-Identifier: MIT
// The records that a database keeps as text: what db check, copy and merge look for in them, and what to do about an
// answer that cannot be read.
#pragma once

#include "db/upkeep/content_check.hpp"

namespace pgtune::tool {

/// For an answer, which a newer one takes the place of.
inline constexpr const char* kSearchAgainRemedy =
    "Search again with --force to replace it; 'pgtune db check' lists what is damaged.";

/// What the columns that hold records or words hold, for db::damage().
[[nodiscard]] const db::ColumnChecks& record_checks();

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
// The columns that samples of trials and samples of rounds share.
#pragma once

#include <string>

#include "db/sqlite/record_columns.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::db {

/// A sample's own columns; its stage is a row that samples share.
[[nodiscard]] const RecordColumns<Sample>& sample_columns();

/// What read_sample() reads, of a samples table joined with stages.
[[nodiscard]] std::string selected_sample_columns();

/// Throws Error for an unknown stage, and for what no measurement gives.
[[nodiscard]] Sample read_sample(Statement& statement);

}  // namespace pgtune::db

// SPDX-License-Identifier: MIT
// The databases that this build ships, and databases given as such: searches that other machines ran on GPUs.
#pragma once

#include <string>
#include <vector>

#include "db/database.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::tool {

/// The databases behind --device recording (`file` empty: all in this build, one for each dtype or so) or
/// recording:FILE. Never empty. Throws CommandError (environment) where this build has none, db::Error for a bad file.
[[nodiscard]] std::vector<db::Database> open_recordings(const std::string& file);

/// The databases of unbiased tables in this build: variants drawn at random from whole grids, which models learn from
/// and strategies are tried on, and which answer no search. Empty where it has none.
[[nodiscard]] std::vector<db::Database> open_unbiased_tables();

/// Whether this build has a recording.
[[nodiscard]] bool has_built_in_recording();

/// The GPU that most of the databases were made on, by each one's newest finished search. Throws CommandError
/// (environment) where one holds no finished search from a GPU.
[[nodiscard]] DeviceInfo usual_device(const std::vector<db::Database>& recordings);

}  // namespace pgtune::tool

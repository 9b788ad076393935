// SPDX-License-Identifier: MIT
// The databases that this build ships, and databases given as recordings: searches on other machines' GPUs.
#pragma once

#include <string>
#include <vector>

#include "db/database.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::tool {

/// The databases behind --device recording (`file` empty: all in this build, one for each dtype or so) or
/// recording:FILE. Never empty. Throws CommandError (environment) where this build has none, db::Error for a bad file.
[[nodiscard]] std::vector<db::Database> open_recordings(const std::string& file);

/// The databases of unbiased tables in this build: variants drawn at random from whole grids, for training models and
/// trying strategies, not for answers. Empty if it has none.
[[nodiscard]] std::vector<db::Database> open_unbiased_tables();

/// Whether this build has a recording.
[[nodiscard]] bool has_built_in_recording();

/// The GPU of most of the databases, by each one's newest finished search. Throws CommandError (environment) if one has
/// no finished search on a GPU.
[[nodiscard]] DeviceInfo usual_device(const std::vector<db::Database>& recordings);

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
// From a pgtune database made on a GPU to what the replay device answers from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tuner/device/recording.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

/// The databases behind --device replay (`file` empty: all in this build, one for each dtype or so) or replay:FILE.
/// Never empty. Throws CommandError (environment) where this build has none, db::Error for a bad file.
[[nodiscard]] std::vector<db::Database> open_recordings(const std::string& file);

/// The databases of unbiased tables in this build: variants drawn at random from whole grids, which models learn from
/// and strategies are tried on, and nothing is replayed from. Empty where it has none.
[[nodiscard]] std::vector<db::Database> open_unbiased_tables();

/// Whether this build has a recording.
[[nodiscard]] bool has_built_in_recording();

/// The GPU a recording was made on: that of its newest finished session. A recording may hold several boards of one
/// kind. Throws CommandError (environment) where it holds no finished session from a GPU.
[[nodiscard]] DeviceInfo recorded_device(const db::Database& database);
/// The board on which `database`, which holds it (database_holding()), has the problem: where several measured it, that
/// of the search that load_recording() prefers.
[[nodiscard]] DeviceInfo recorded_device(const db::Database& database, const space::TemplateSet& templates,
                                         const Problem& problem);

/// The problems recorded with any of these templates, in whatever version, each once.
[[nodiscard]] std::vector<Problem> recorded_problems(const db::Database& database, const space::TemplateSet& templates);

/// The first of `databases` with a finished search for `problem` that tried any of these templates, all of them in the
/// set's versions; null where none has one.
[[nodiscard]] const db::Database* database_holding(std::span<const db::Database> databases,
                                                   const space::TemplateSet& templates, const Problem& problem);

/// What finished searches for `problem` found with just these versions of the templates (recorded_versions() chooses
/// them), under each of the conditions it was measured under, from the first of `databases` that holds it. A search
/// that tried another version of any of them is not taken; nor, where several boards measured it under some conditions,
/// one of another board than the preferred search's. Throws CommandError (environment): the problem is recorded
/// with other versions only, or not at all, each with what there is and the remedy.
[[nodiscard]] device::Recording load_recording(std::span<const db::Database> databases,
                                               const space::TemplateSet& templates, const Problem& problem);

/// What searches of the problem tried, under any conditions; none where it is not recorded.
[[nodiscard]] std::vector<Variant> recorded_variants(std::span<const db::Database> databases,
                                                     const space::TemplateSet& templates, const Problem& problem);

}  // namespace pgtune::tool

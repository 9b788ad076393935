// SPDX-License-Identifier: MIT
// In which versions of its templates a replay answers: this build's, or those that were recorded.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

/// The templates as load_recording() finds the problem recorded with them. Unchanged where any of the databases holds a
/// search for `problem` of which all that it tried of them was in this build's version, or where nothing can be
/// replayed at all. Otherwise in the versions of the newest search, in the first database with one, of which a variant
/// that was right is legal in this build too; other_versions() of the set then names what the replay is only a hint
/// about. Throws CommandError (environment) for a database without a finished search from a GPU, db::Error.
[[nodiscard]] space::TemplateSet recorded_versions(std::span<const db::Database> databases,
                                                   const space::TemplateSet& templates, const Problem& problem);

/// "measured with another version of gemm_wgmma (1a2b3c4d, here 5e6f7a8b) than this build's: a hint, ..."; empty where
/// there are none.
[[nodiscard]] std::string versions_text(const std::vector<space::OtherVersion>& others);

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
// One problem of a recording, put together from the sessions that measured it.
#pragma once

#include <vector>

#include "db/database.hpp"
#include "db/queries/records.hpp"
#include "tuner/device/recording.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

/// `sessions`: finished searches for `problem` on one board under the same conditions, which tried variants of
/// `templates`; the preferred first, at least one. Only variants of these templates are taken. What is compared inside
/// rounds comes from one session, so that pairs stay pairs: the final, the noise floor and the energy each from the
/// first session that has them, the race from the one that raced most variants (the first of equals). Trials are the
/// newest of each variant on that board; what failed or was cut on another one of its class did so here. The baseline
/// is the final's; samples and energy of its algorithms are taken from other sessions only where they name the same
/// algorithm. Throws db::Error for rows that cannot be read.
[[nodiscard]] device::RecordedProblem recorded_problem(const db::Database& database,
                                                       const std::vector<db::SessionRow>& sessions,
                                                       const Problem& problem, const space::TemplateSet& templates);

}  // namespace pgtune::tool

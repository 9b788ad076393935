// SPDX-License-Identifier: MIT
// Which searches of a database teach the search of a problem, so that it goes on as it began after an interruption.
#pragma once

#include <string>
#include <vector>

#include "db/queries/records.hpp"

namespace pgtune::tool {

/// Of `searches` those that had ended when the problem was first searched on a device of the class
/// (DeviceClass::text()), or have by now where it was not yet; in the order given. Of many the newest few are left out,
/// so that their number takes few values and a model is fitted anew after a third to a half more, not after every
/// search, which waits for the fit before its first variant.
[[nodiscard]] std::vector<db::SessionRow> searched_before(std::vector<db::SessionRow> searches,
                                                          const std::string& problem_key,
                                                          const std::string& device_class);

}  // namespace pgtune::tool

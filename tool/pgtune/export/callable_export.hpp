// SPDX-License-Identifier: MIT
// From stored results to a callable header: variants of this build's templates, compiled.
#pragma once

#include <string>
#include <vector>

#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/export/callable_header.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

struct CallableOptions {
  std::string name_space, file_name;
  std::string template_selector;  ///< a template's JSON by path, for results of it; or a name or nothing
  double largest_loss = 0.03;     ///< of neighbours, median
  bool jit = false;
};

/// What can be exported of `results`, the winners that `database` holds. What cannot is left out, with a note in the
/// terminal. Empty entries: nothing can. Throws CommandError (environment): compile workers that cannot work.
[[nodiscard]] CallableHeader callable_export(Context& context, const std::vector<StoredResult>& results,
                                             const db::Database& database, const CallableOptions& options);

}  // namespace pgtune::tool

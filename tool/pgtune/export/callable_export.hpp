// SPDX-License-Identifier: MIT
// From stored results to a callable header: variants of this build's templates, compiled.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/export/callable_header.hpp"
#include "tool/pgtune/report/stored_results.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// A variant for a problem that nobody tuned.
struct GuessedVariant {
  Variant variant;
  double loss = 0;    ///< of time against a tuned variant, to be expected (a median)
  std::string basis;  ///< for people: what that rests on
};

struct CallableOptions {
  std::string name_space, file_name;
  std::string template_selector;               ///< a template's JSON by path, for results of it; or a name or nothing
  const LoadedOperation* operation = nullptr;  ///< for results of it; null: those of built-in operations
  double largest_loss = 0.03;                  ///< of neighbours, median
  bool jit = false;
  /// Problems that get a kernel on each class of device although nobody tuned them there, where `guess` names one of a
  /// built-in template; its error says why it does not.
  std::vector<Problem> guessed_problems = {};
  std::function<Result<GuessedVariant>(const Problem&, const DeviceInfo&)> guess = {};
};

/// What can be exported of `results`, the winners that `database` holds. What cannot is left out, with a note in the
/// terminal. Empty entries: nothing can. Throws CommandError (environment): compile workers that cannot work.
[[nodiscard]] CallableHeader callable_export(Context& context, const std::vector<StoredResult>& results,
                                             const db::Database& database, const CallableOptions& options);

}  // namespace pgtune::tool

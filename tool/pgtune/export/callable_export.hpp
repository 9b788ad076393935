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

/// A variant for a problem that was not tuned.
struct GuessedVariant {
  Variant variant;
  double loss = 0;    ///< expected loss of time against a tuned variant (a median)
  std::string basis;  ///< the basis of that, as text
};

struct CallableOptions {
  std::string name_space, file_name;
  std::vector<std::string> include_folders;    ///< of that template, beside those that it declares
  std::string template_selector;               ///< a template's JSON by path, for results of it; or a name or nothing
  const LoadedOperation* operation = nullptr;  ///< for results of it; null: those of built-in operations
  double largest_loss = 0.03;                  ///< of neighbours, median
  bool jit = false;
  /// Problems that get a kernel on each class of device without tuning there, if `guess` names one of a built-in
  /// template; its error says why it does not.
  std::vector<Problem> guessed_problems = {};
  std::function<Result<GuessedVariant>(const Problem&, const DeviceInfo&)> guess = {};
  std::vector<db::FamilyRow> families = {};  ///< to be exported too, newest first
};

/// The exportable part of `results`, the winners in `database`, and of the families: of those that differ in their
/// range alone the newest. Others are left out, with a note in the terminal. Entries and families may be empty. Throws
/// CommandError (environment): compile workers that cannot work.
[[nodiscard]] CallableHeader callable_export(Context& context, const std::vector<StoredResult>& results,
                                             const db::Database& database, const CallableOptions& options);

}  // namespace pgtune::tool

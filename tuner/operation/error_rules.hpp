// SPDX-License-Identifier: MIT
// How far from the reference an output may be: the rules' names, how they are read, and what they say of a problem.
// Private to tuner/operation.
#pragma once

#include <string>

#include "tuner/operation/operation_definition.hpp"
#include "tuner/template/known_names.hpp"
#include "tuner/util/json_cursor.hpp"

namespace pgtune::operation {

/// Problems are kept by the cursor's JsonProblems. `definition` has its dtypes.
[[nodiscard]] ErrorSpec read_error(const JsonCursor& cursor, const space::KnownNames& names,
                                   const OperationDefinition& definition);

/// Whether the error is in units of a scale, which the reference has to write.
[[nodiscard]] bool needs_scale(const ErrorSpec& spec);

/// What the rule's expressions are evaluated with.
struct ErrorValues {
  const Names& names;
  Dtype dtype;            ///< the problem's
  const std::string& of;  ///< whose error it is, for messages: "buffer 'd'"
};

/// Of an output of this type. Errors (usage): an expression that fails, a sum of nothing, too many roundings, the label
/// of no activation, a factor below 1.
[[nodiscard]] Result<ToleratedError> tolerated_error(const ErrorSpec& spec, ElementType type,
                                                     const ErrorValues& values);

/// What rounding an output of this type before its last step costs, in units of its scale; 0 where that rounds nothing.
/// Precondition: the rule is kSum. Errors likewise.
[[nodiscard]] Result<double> error_of_early_rounding(const ErrorSpec& spec, ElementType type,
                                                     const ErrorValues& values);

}  // namespace pgtune::operation

// SPDX-License-Identifier: MIT
// The error that an output may have against the reference: the rules' names, their readers, and their bounds for a
// problem. Private to tuner/operation.
#pragma once

#include <string>

#include "tuner/operation/operation_definition.hpp"
#include "tuner/template/known_names.hpp"
#include "tuner/util/json_cursor.hpp"

namespace pgtune::operation {

/// The cursor's JsonProblems collects problems. `definition` must have its dtypes.
[[nodiscard]] ErrorSpec read_error(const JsonCursor& cursor, const space::KnownNames& names,
                                   const OperationDefinition& definition);

/// Whether the error is in units of a scale, which the reference must write.
[[nodiscard]] bool needs_scale(const ErrorSpec& spec);

/// The values for the rule's expressions.
struct ErrorValues {
  const Names& names;
  Dtype dtype;            ///< the problem's
  const std::string& of;  ///< the output, for messages: "buffer 'd'"
};

/// The bound for an output of this type. Errors (usage): an expression that fails, a sum of nothing, too many
/// roundings, the label of no activation, a factor below 1.
[[nodiscard]] Result<ToleratedError> tolerated_error(const ErrorSpec& spec, ElementType type,
                                                     const ErrorValues& values);

/// The error from rounding an output of this type before its last step, in units of its scale; 0 if that is exact.
/// Precondition: the rule is kSum. The same errors.
[[nodiscard]] Result<double> error_of_early_rounding(const ErrorSpec& spec, ElementType type,
                                                     const ErrorValues& values);

}  // namespace pgtune::operation

// SPDX-License-Identifier: MIT
// A callable header of every operation that ships and of the examples', with images that are no kernels.
#pragma once

#include "tests/exported/sample_export.hpp"

namespace pgtune::tool::test {

/// Four variants of each template in each type as entries for an H200, the first at sizes of 1024, and each next one at
/// sizes of 256 more. The header is best.hpp in the namespace best.
[[nodiscard]] CallableHeader sample_operations();

/// Appends the entries that sample_operations() has of the operation.
void add_operations(CallableHeader& content, const std::string& operation);

/// The problem of an operation of that export with these sizes. Errors as operation::make_problem().
[[nodiscard]] Result<Problem> sized(const CallableHeader& content, const Problem& like,
                                    const std::vector<std::int64_t>& sizes);

}  // namespace pgtune::tool::test

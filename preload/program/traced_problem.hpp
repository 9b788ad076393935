// SPDX-License-Identifier: MIT
// A recorded call as a problem of pgtune's.
#pragma once

#include <optional>

#include "preload/kernels/table.hpp"
#include "preload/shim/key.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::tool {

/// Errors (usage): why pgtune has no such problem. `tf32`: see preload::arithmetic_of().
[[nodiscard]] Result<Problem> problem_of(const preload::Key& key, bool tf32);

/// A problem as libraries of kernels have it; nothing where they have no such.
[[nodiscard]] std::optional<PgtuneProblem> kernel_problem_of(const Problem& problem);

/// As a line of a shape list, or what problem_of() refuses, for people: "64x64x32 f64".
[[nodiscard]] std::string title_of(const preload::Key& key, bool tf32);

}  // namespace pgtune::tool

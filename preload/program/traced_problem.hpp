// SPDX-License-Identifier: MIT
// A recorded call as a problem of pgtune's.
#pragma once

#include "preload/shim/key.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::tool {

/// Errors (usage): why pgtune has no such problem. `tf32`: see preload::arithmetic_of().
[[nodiscard]] Result<Problem> problem_of(const preload::Key& key, bool tf32);

/// What problem_of() refuses, for people: "64x64x32 R_64F".
[[nodiscard]] std::string text_of(const preload::Key& key);

}  // namespace pgtune::tool

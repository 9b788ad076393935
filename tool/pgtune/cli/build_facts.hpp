// SPDX-License-Identifier: MIT
// The sources of this build, which identify the pgtune behind a set of numbers.
#pragma once

#include <string>

namespace pgtune::tool {

/// The short commit, and whether files were changed since; empty if the sources were no clone. cmake/Commit.cmake
/// writes the file that defines it.
extern const char* const kCommit;

/// Several lines, the last one without its end: commit, compiler, toolkit, schemas, templates with the hash of
/// their content, recordings.
[[nodiscard]] std::string build_facts();

}  // namespace pgtune::tool

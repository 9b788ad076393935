// SPDX-License-Identifier: MIT
// What this build was made from: the answer to "which pgtune gave these numbers?".
#pragma once

#include <string>

namespace pgtune::tool {

/// The commit, shortened, and whether the files were changed since; empty where the sources were no clone. In a file of
/// its own that cmake/Commit.cmake writes.
extern const char* const kCommit;

/// Several lines, the last one without its end: commit, compiler, toolkit, schemas, templates with the hash of
/// their content, recordings.
[[nodiscard]] std::string build_facts();

}  // namespace pgtune::tool

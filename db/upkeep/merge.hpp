// SPDX-License-Identifier: MIT
// Several databases into one. The result depends on what the inputs hold, not on their order or how often one is named.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "db/upkeep/content_check.hpp"

namespace pgtune::db {

struct MergedInput {
  std::filesystem::path path;
  std::int64_t sessions = 0;  ///< that it holds
  std::int64_t taken = 0;     ///< of these, the ones that were taken from it
};

struct MergeReport {
  std::vector<MergedInput> inputs;  ///< in the order given
  std::int64_t sessions = 0;        ///< of the output
};

/// Writes the sessions of all inputs, and the ceilings, into a new file. A session that several inputs hold (by its
/// uid) is taken once, from the input that knows most of it: finished rather than not, then with more rows. Sessions
/// are numbered by uid, so that in the output, too, a later one is newer; rows that belong to no session are dropped.
/// No input is changed. The output is one file without a log, appears at once under its name and is equal byte for byte
/// whatever the inputs' order. Throws Error where an input is missing, not pgtune's, of another schema or damaged (by
/// damage(), with `checks`), where the output exists or cannot be written; nothing is written then.
[[nodiscard]] MergeReport merge(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output,
                                const ColumnChecks& checks = {});

}  // namespace pgtune::db

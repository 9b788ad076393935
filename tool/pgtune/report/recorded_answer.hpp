// SPDX-License-Identifier: MIT
// What recordings answer for a problem, and what they hold instead.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tool/pgtune/report/stored_results.hpp"
#include "tuner/session/answer.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

/// A search that a recording holds.
struct RecordedAnswer {
  const db::Database* recording = nullptr;
  StoredResult result;
  std::string pgtune_version;    ///< that measured it
  space::TemplateSet templates;  ///< of those asked for what it tried, under the hashes that they had
};

/// The newest search for the problem, under these conditions and by this objective, whose best is of one of the
/// templates: in the first recording that has one with this build's version of that template, else in the first with
/// any, which StoredResult::other_versions names then. Throws db::Error.
[[nodiscard]] std::optional<RecordedAnswer> recorded_answer(const std::vector<db::Database>& recordings,
                                                            const space::TemplateSet& templates, const Problem& problem,
                                                            const Conditions& conditions, session::Objective objective);

/// Of a problem that has no recorded_answer(): under which conditions and templates the recordings hold it, else the
/// problems of its operation that are nearest to it. A sentence or two. Throws db::Error.
[[nodiscard]] std::string unrecorded_text(const std::vector<db::Database>& recordings, const Problem& problem);

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
// The recorded answer for a problem, or what the recordings have instead.
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
  space::TemplateSet templates;  ///< the requested templates that it tried, with their hashes at that time
};

/// The newest search for the problem, under these conditions and by this objective, whose best is of one of the
/// templates: on a device of that name rather than another, and of this build's version of the template rather than
/// another, which StoredResult::other_versions names then; of several the newest. Throws db::Error.
[[nodiscard]] std::optional<RecordedAnswer> recorded_answer(const std::vector<db::Database>& recordings,
                                                            const space::TemplateSet& templates, const Problem& problem,
                                                            const Conditions& conditions, session::Objective objective,
                                                            const std::string& device_name);

/// For a problem without recorded_answer(): the conditions and templates with which the recordings have it, else the
/// nearest problems of its operation. One or two sentences. Throws db::Error.
[[nodiscard]] std::string unrecorded_text(const std::vector<db::Database>& recordings, const Problem& problem);

}  // namespace pgtune::tool

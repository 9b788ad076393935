// SPDX-License-Identifier: MIT
// The staircase: each worker's operations over time, for terminals and as SVG. Pure.
#pragma once

#include <string>

#include "pipeline/plan/schedule.hpp"
#include "pipeline/plan/timeline.hpp"

namespace pgtune::tool {

/// Three lanes of `width` columns in total. A column shows the last digit of the chunk that its worker processed for
/// most of that time, or '.' if it was idle. Below is each worker's idle time by cause. Lines end in newlines.
[[nodiscard]] std::string timeline_text(const pipeline::Schedule& schedule, const pipeline::Timeline& timeline,
                                        std::size_t width);

/// A self-contained SVG document: a rectangle per operation with its chunk and times as title; gaps are labelled if
/// there is room. `title` is its caption; text in it is escaped.
[[nodiscard]] std::string timeline_svg(const pipeline::Schedule& schedule, const pipeline::Timeline& timeline,
                                       const std::string& title);

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
// The loss of a header's dispatch to neighbours, from trials of the problems themselves.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tool/pgtune/export/callable_header.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// Screening times (median, seconds) of the right variants that the result's session tried, by Variant::id() with the
/// present names of `templates`.
[[nodiscard]] std::map<std::string, double> tried_times(const db::Database& database, const StoredResult& result,
                                                        const std::vector<space::TemplateDefinition>& templates);

/// In doublings, as in an exported header: the length of the vector of log2 ratios of m, n, k and batch, or of an
/// operation's sizes. Precondition: both are of one operation.
[[nodiscard]] double problem_distance(const Problem& a, const Problem& b);

/// The variant that an exported header uses for the problem from its neighbours within `radius`, an index into
/// content.variants: the cheapest by cost. Skips entries of the same problem, and guesses. Nothing if there is none.
[[nodiscard]] std::optional<std::size_t> neighbour(const CallableHeader& content, const Problem& problem,
                                                   const DeviceInfo& device, double radius);

/// For each dtype of GEMM and of each operation, the loss within several radii. Chooses the largest radius at which
/// neighbours lose at most `largest_loss` in the median, and four times that in the 90th percentile, over at least
/// eight problems whose search had tried the neighbour's variant. `tried[i]` are the times of content.entries[i]'s
/// problem.
[[nodiscard]] std::vector<MeasuredLoss> measured_losses(const CallableHeader& content,
                                                        const std::vector<std::map<std::string, double>>& tried,
                                                        double largest_loss);

}  // namespace pgtune::tool

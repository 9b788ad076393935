// SPDX-License-Identifier: MIT
// The common columns of all reports: problem, device, origin, variant, conditions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// The conditions of a result. Throws CommandError (database) for a row without them.
[[nodiscard]] Conditions conditions_of(const StoredResult& result);

/// "--shape 512x512x512 --dtype bf16": options that name its problem, and its template where no search takes it
/// unasked.
[[nodiscard]] std::string problem_options(const StoredResult& result);
/// " --regime burst --l2 warm": options that ask for its conditions; empty for the usual ones.
[[nodiscard]] std::string condition_options(const StoredResult& result);

/// Columns of a CSV table and one result's cells for them.
[[nodiscard]] std::vector<std::string> result_columns();
[[nodiscard]] std::vector<std::string> result_cells(const StoredResult& result);

/// "problem", "device", "device_class", "device_uuid", "source", "template", "variant", "conditions",
/// "sampling".
[[nodiscard]] nlohmann::json result_identity(const StoredResult& result);

/// Results of GPUs of one class under the same conditions, with a headline that says so.
struct ResultGroup {
  std::string headline;  ///< "NVIDIA H200, sm_90, 132 SMs, 140 GiB, 700 W, driver 580.159.04; sustained, ..."
  std::vector<const StoredResult*> results;
};
/// Groups in the order of their headlines; pointers into `results`.
[[nodiscard]] std::vector<ResultGroup> grouped(const std::vector<StoredResult>& results);
/// The headline in at most 80 columns, bold on request of the terminal.
void print_headline(Terminal& terminal, const ResultGroup& group);

[[nodiscard]] bool is_recorded(const StoredResult& result);
/// The word in JSON and CSV: "gpu" or "recorded".
[[nodiscard]] std::string_view source_word(const StoredResult& result);
/// "4096x4096x4096 f32 nn", with a '*' for recorded results.
[[nodiscard]] std::string marked_title(const StoredResult& result);
/// Results of a table whose problems have dtype and layout in common.
struct TableSection {
  std::string title;  ///< "bf16 nt": printed once, above the rows
  std::vector<const StoredResult*> results;
};
/// Whether a section's title has the unit of its problems' speeds, or the table's columns do.
enum class SectionUnit { kTold, kInColumns };
/// In the order of the dtypes; within a section in the given order.
[[nodiscard]] std::vector<TableSection> table_sections(const std::vector<const StoredResult*>& results,
                                                       SectionUnit unit = SectionUnit::kTold);
/// The part of marked_title() that is not in the section's title, "4096x4096x4096* batch=8". A word and its value stay
/// together if the title takes two lines.
[[nodiscard]] std::string row_title(const StoredResult& result);
/// Explains the marks that a result has.
void print_marks_legend(Terminal& terminal, const std::vector<StoredResult>& results);
/// Prints a line for each part that cuBLASLt left out, for unavailable baselines, and for enlarged or copied problems.
void print_baseline_legend(Terminal& terminal, const std::vector<StoredResult>& results);

}  // namespace pgtune::tool

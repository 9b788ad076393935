// SPDX-License-Identifier: MIT
// Turns tables of measurements into predictions for other variants.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tool/pgtune/learning/recorded_tables.hpp"
#include "tuner/search/predictor.hpp"

namespace pgtune::tool {

/// The seed of the trees' choice of rows and columns.
inline constexpr std::uint64_t kModelSeed = 1;

/// A problem's shape and batch: problems that share these have nearly redundant times.
[[nodiscard]] std::string shape_of(const Problem& problem);

/// What is computed in which types: Experience::kind.
[[nodiscard]] std::string kind_of_times(const Problem& problem);

/// What a table's templates that are known say, one after another; others say nothing. `number`: the
/// table's among all. Throws CommandError.
[[nodiscard]] std::vector<search::Experience> experiences(const RecordedTable& table, const KnownTemplates& templates,
                                                          std::size_t number);

/// The same for another tool's table, which has only parameters. Features are the logarithms of numbers with their sums
/// and differences (tiles over threads often decide), and one per label. `rows`: the rows to use.
[[nodiscard]] search::Experience foreign_experience(const RecordedTable& table, std::span<const std::size_t> rows,
                                                    std::size_t number);

/// The predictions for `table` of a model that was fitted to `rows` rows of each of the `known` tables of other tools,
/// drawn by the seed. Throws nothing: if parameters have other names, the model learns nothing.
[[nodiscard]] search::Expectation expectation_from(const std::vector<const RecordedTable*>& known, std::size_t rows,
                                                   const RecordedTable& table, std::uint64_t seed);

/// Tables that agree in this with the tried table are left out when its model is fitted.
enum class LeaveOut { kProblem, kDtype, kDevice, kTemplate };
/// "problem", "dtype", "device", "template"; nothing for other words.
[[nodiscard]] std::optional<LeaveOut> parse_leave_out(std::string_view word);
/// A problem's shape and batch, whatever its dtype, layout and epilogue; its dtype; the device's name; the templates'
/// names.
[[nodiscard]] std::string left_out_key(const RecordedTable& table, LeaveOut leave_out);

/// The amount of training data of a table's model.
struct Lesson {
  std::size_t tables = 0;   ///< 0: it was fitted to nothing
  std::size_t devices = 0;  ///< of these, by name
};
struct Taught {
  Lesson by = {};
  std::optional<search::Expectation> expectation = {};
};

/// For each table the predictions of a model fitted to all others and to `teachers`, without those that agree in
/// `leave_out` (for templates: that share one). Nothing for a table with an unknown template, for those of other tools,
/// and if no training data remains. Models are fitted on all cores.
[[nodiscard]] std::vector<Taught> cross_expectations(const std::vector<RecordedTable>& tables,
                                                     const std::vector<RecordedTable>& teachers,
                                                     const KnownTemplates& templates, LeaveOut leave_out);

/// The training tables in `tables` for the other tool's table at `place` if its device is left out: other tools' tables
/// of the same kernel on other devices. Borrows the tables.
[[nodiscard]] std::vector<const RecordedTable*> foreign_teachers(const std::vector<RecordedTable>& tables,
                                                                 std::size_t place);
[[nodiscard]] Lesson lesson_of(const std::vector<const RecordedTable*>& teachers);

}  // namespace pgtune::tool

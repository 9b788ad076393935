// SPDX-License-Identifier: MIT
// From tables of what was measured to what is expected of variants that were not.
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

/// Of the trees: which rows and columns each is fitted to.
inline constexpr std::uint64_t kModelSeed = 1;

/// A problem's shape and batch: what problems have in common whose times say much the same.
[[nodiscard]] std::string shape_of(const Problem& problem);

/// What a table's templates that are known say, one after another; others say nothing. `number`: the
/// table's among all. Throws CommandError.
[[nodiscard]] std::vector<search::Experience> experiences(const RecordedTable& table, const KnownTemplates& templates,
                                                          std::size_t number);

/// The same of another tool's table, of which nothing is known but parameters: of the numbers as logarithms, their sums
/// and differences (tiles over threads are what decides often), a label each its own. `rows`: which of its rows,
/// nothing else of it is looked at.
[[nodiscard]] search::Experience foreign_experience(const RecordedTable& table, std::span<const std::size_t> rows,
                                                    std::size_t number);

/// What a model expects of `table` that was fitted to `known`, tables of other tools too, by `rows` of each, drawn by
/// the seed. Throws nothing: where parameters are called otherwise it has learnt nothing.
[[nodiscard]] search::Expectation expectation_from(const std::vector<const RecordedTable*>& known, std::size_t rows,
                                                   const RecordedTable& table, std::uint64_t seed);

/// What is left out when the model is fitted that is tried on a table: tables that are alike in this.
enum class LeaveOut { kProblem, kDtype, kDevice, kTemplate };
/// "problem", "dtype", "device", "template"; nothing for other words.
[[nodiscard]] std::optional<LeaveOut> parse_leave_out(std::string_view word);
/// A problem's shape and batch, whatever its dtype, layout and epilogue; its dtype; the device's name; the templates'
/// names.
[[nodiscard]] std::string left_out_key(const RecordedTable& table, LeaveOut leave_out);

/// How much a table's model was fitted to.
struct Lesson {
  std::size_t tables = 0;   ///< 0: it was fitted to nothing
  std::size_t devices = 0;  ///< of these, by name
};
struct Taught {
  Lesson by = {};
  std::optional<search::Expectation> expectation = {};
};

/// For each table what a model expects that was fitted to all others and to `teachers`, less those that are alike in
/// `leave_out` (of templates: that share one); nothing for a table with a template that is not known, for those of
/// other tools, and where nothing is left to be fitted to. Models are fitted on all cores.
[[nodiscard]] std::vector<Taught> cross_expectations(const std::vector<RecordedTable>& tables,
                                                     const std::vector<RecordedTable>& teachers,
                                                     const KnownTemplates& templates, LeaveOut leave_out);

/// Of `tables` those that may teach the other tool's table at `place` where its device is left out: other tools' tables
/// of the same kernel on other devices. Borrows the tables.
[[nodiscard]] std::vector<const RecordedTable*> foreign_teachers(const std::vector<RecordedTable>& tables,
                                                                 std::size_t place);
[[nodiscard]] Lesson lesson_of(const std::vector<const RecordedTable*>& teachers);

}  // namespace pgtune::tool

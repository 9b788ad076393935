// SPDX-License-Identifier: MIT
// What another tuner's file says of a space and of what became of its configurations, or what a recording says in such
// words. Data of strangers: nothing in it is executed.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/model/outcome.hpp"
#include "tuner/model/variant.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

struct ForeignTable {
  /// A parameter with the values that the space states, else those that configurations have.
  struct Parameter {
    std::string name;
    std::vector<ParameterValue> values;
    friend bool operator==(const Parameter&, const Parameter&) = default;
  };
  /// In the words of whoever made the table.
  struct Constraint {
    std::string expression, reason;
    friend bool operator==(const Constraint&, const Constraint&) = default;
  };
  struct Row {
    std::vector<ParameterValue> values;  ///< one for each parameter
    Outcome outcome;
    bool cut = false;                  ///< right but clearly slow: time_s is rough
    double time_s = 0;                 ///< 0 unless the outcome is kOk
    double compile_s = 0;              ///< 0 where it is not known
    std::vector<double> times_s = {};  ///< single measurements, where they are known
    friend bool operator==(const Row&, const Row&) = default;
  };

  std::string kernel, device;
  std::string problem;      ///< what its problem_size is, as JSON text; empty where there is none
  std::string measured_at;  ///< UTC ISO 8601, of the first; empty where it is not known
  std::vector<Parameter> parameters;
  std::vector<Constraint> constraints;
  std::vector<Row> rows;  ///< at least one with a time, each configuration once
  friend bool operator==(const ForeignTable&, const ForeignTable&) = default;

  /// The values of the parameter at `place` that rows have, in the order in which they come up.
  [[nodiscard]] std::vector<ParameterValue> values_seen(std::size_t place) const;
};

/// Limits that keep a stranger's file from filling the memory.
inline constexpr std::size_t kMostForeignRows = 1'000'000, kMostForeignParameters = 256;

/// Makes a table row by row: those with nothing to say and repeated configurations are left out.
class ForeignTableMaker {
 public:
  explicit ForeignTableMaker(ForeignTable table) : table_(std::move(table)) {}
  /// A row that is right but has no time is left out; of equal configurations the first counts. Errors (usage): more
  /// rows than kMostForeignRows, or values that are not one for each parameter.
  [[nodiscard]] Result<void> add(ForeignTable::Row row);
  /// Values of parameters that state none become those that were seen. Errors (usage): no row has a time.
  [[nodiscard]] Result<ForeignTable> finish() &&;

 private:
  ForeignTable table_;
  std::set<std::vector<ParameterValue>> seen_;
};

/// A table as the database keeps it, and back. Errors (database): what is wrong with the text.
[[nodiscard]] std::string stored_text(const ForeignTable& table);
[[nodiscard]] Result<ForeignTable> foreign_table_of(std::string_view stored);

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
// What another tuner's file says of a space and of what became of its configurations, or what a recording says in such
// words; and how pieces of strangers' JSON are read: fields that may be missing, of another type, or not fit to be
// shown. Nothing in it is executed.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
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

/// The object's field; null where it has none or is no object.
[[nodiscard]] const nlohmann::json* json_field(const nlohmann::json& object, const std::string& name);

/// The object's list; an empty one where it has none.
[[nodiscard]] const nlohmann::json& json_list(const nlohmann::json& object, const std::string& name);
/// False where it does not say.
[[nodiscard]] bool json_flag(const nlohmann::json& object, const std::string& name);

/// Of texts that are more than names.
inline constexpr std::size_t kMostText = 65'536;

/// A field's text, fit to be shown in a line, at most the first `bytes`; `otherwise` where there is none.
[[nodiscard]] std::string json_text(const nlohmann::json& object, const std::string& name, const std::string& otherwise,
                                    std::size_t bytes = 120);

/// A parameter's value: whole numbers and truths (1 and 0) as numbers, other numbers and text as text; nothing of
/// anything else.
[[nodiscard]] std::optional<ParameterValue> parameter_value(const nlohmann::json& value);

/// The other way: text that is a number with a fraction was one.
[[nodiscard]] nlohmann::json value_json(const ParameterValue& value);
[[nodiscard]] nlohmann::json values_json(const std::vector<ParameterValue>& values);

/// The object's list of values; what is none is left out.
[[nodiscard]] std::vector<ParameterValue> stated_values(const nlohmann::json& object, const std::string& name);
/// A list of values. Throws nlohmann::json::exception where one is none.
[[nodiscard]] std::vector<ParameterValue> values_of(const nlohmann::json& list);

/// The values in `row` of parameters, by name. Errors (usage): one is missing or none.
[[nodiscard]] Result<std::vector<ParameterValue>> configuration_of(const nlohmann::json& row,
                                                                   const std::vector<std::string>& names);

/// ForeignTable::problem as JSON; an empty list where there is none.
[[nodiscard]] nlohmann::json problem_json(const ForeignTable& table);

/// A number of `unit_s` seconds as seconds, where it is more than nothing and finite.
[[nodiscard]] std::optional<double> positive_seconds(const nlohmann::json& value, double unit_s);
/// A list of them; what is none is left out, of lists within the list the last counts (pairs with 0 in front).
[[nodiscard]] std::vector<double> all_seconds(const nlohmann::json& object, const std::string& name, double unit_s);

}  // namespace pgtune::tool

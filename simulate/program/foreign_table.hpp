// SPDX-License-Identifier: MIT
// Another tuner's space and the outcomes of its configurations, or a recording in such terms. Also reads pieces of
// untrusted JSON, whose fields may be missing, of another type, or unsafe to print. Nothing in it is executed.
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
  /// A parameter with the values that the space states, else those of the configurations.
  struct Parameter {
    std::string name;
    std::vector<ParameterValue> values;
    bool truths = false;  ///< 1 and 0 are its maker's true and false, and are written so
    friend bool operator==(const Parameter&, const Parameter&) = default;
  };
  /// In the terms of the tool that made the table.
  struct Constraint {
    std::string expression, reason;
    friend bool operator==(const Constraint&, const Constraint&) = default;
  };
  struct Row {
    std::vector<ParameterValue> values;  ///< one for each parameter
    Outcome outcome;
    bool cut = false;                  ///< right but clearly slow: time_s is rough
    double time_s = 0;                 ///< 0 unless the outcome is kOk
    double compile_s = 0;              ///< 0 if unknown
    std::vector<double> times_s = {};  ///< single measurements, if known
    friend bool operator==(const Row&, const Row&) = default;
  };

  std::string kernel, device;
  std::string problem;      ///< its problem_size as JSON text; empty if there is none
  std::string measured_at;  ///< UTC ISO 8601, of the first; empty if unknown
  std::vector<Parameter> parameters;
  std::vector<Constraint> constraints;
  std::vector<Row> rows;  ///< at least one with a time, each configuration once
  friend bool operator==(const ForeignTable&, const ForeignTable&) = default;

  /// The values of the parameter at `place` in the rows, in order of appearance.
  [[nodiscard]] std::vector<ParameterValue> values_seen(std::size_t place) const;
};

/// Limits that keep an untrusted file from filling the memory.
inline constexpr std::size_t kMostForeignRows = 1'000'000, kMostForeignParameters = 256;

/// Makes a table row by row; leaves out rows without information and repeated configurations.
class ForeignTableMaker {
 public:
  explicit ForeignTableMaker(ForeignTable table) : table_(std::move(table)) {}
  /// Ignores a right row without a time, and all but the first of equal configurations. Errors (usage): more rows than
  /// kMostForeignRows, or a number of values other than that of parameters.
  [[nodiscard]] Result<void> add(ForeignTable::Row row);
  /// Parameters without stated values get those of the rows. Errors (usage): no row has a time.
  [[nodiscard]] Result<ForeignTable> finish() &&;
  /// For configuration_of().
  [[nodiscard]] std::vector<ForeignTable::Parameter>& parameters() { return table_.parameters; }

 private:
  ForeignTable table_;
  std::set<std::vector<ParameterValue>> seen_;
};

/// A table to the database's text, and back. Errors (database): what is wrong with the text.
[[nodiscard]] std::string stored_text(const ForeignTable& table);
[[nodiscard]] Result<ForeignTable> foreign_table_of(std::string_view stored);

/// The object's field; null if it has none or is no object.
[[nodiscard]] const nlohmann::json* json_field(const nlohmann::json& object, const std::string& name);

/// The object's list; empty if it has none.
[[nodiscard]] const nlohmann::json& json_list(const nlohmann::json& object, const std::string& name);
/// False if absent.
[[nodiscard]] bool json_flag(const nlohmann::json& object, const std::string& name);

/// Limit for texts that are longer than names.
inline constexpr std::size_t kMostText = 65'536;

/// A field's text, safe to print in a line, at most the first `bytes`; `otherwise` if there is none.
[[nodiscard]] std::string json_text(const nlohmann::json& object, const std::string& name, const std::string& otherwise,
                                    std::size_t bytes = 120);

/// A parameter's value: integers and booleans (1 and 0) as numbers, other numbers and text as text; nothing for
/// anything else.
[[nodiscard]] std::optional<ParameterValue> parameter_value(const nlohmann::json& value);

/// The other way: text that is a number with a fraction was one.
[[nodiscard]] nlohmann::json value_json(const ParameterValue& value, const ForeignTable::Parameter& parameter);
[[nodiscard]] nlohmann::json values_json(const ForeignTable::Parameter& parameter);

/// A parameter with the object's list of values; what is none is left out.
[[nodiscard]] ForeignTable::Parameter stated_parameter(std::string name, const nlohmann::json& object,
                                                       const std::string& list);
/// With a list of values. Throws nlohmann::json::exception where one is none.
[[nodiscard]] ForeignTable::Parameter parameter_with(std::string name, const nlohmann::json& list);

/// The values in `row` of the parameters, which become truths where one is. Errors (usage): one is missing or none.
[[nodiscard]] Result<std::vector<ParameterValue>> configuration_of(const nlohmann::json& row,
                                                                   std::vector<ForeignTable::Parameter>& parameters);

/// ForeignTable::problem as JSON; an empty list where there is none.
[[nodiscard]] nlohmann::json problem_json(const ForeignTable& table);

/// Whether it is no time but how Kernel Tuner says that a configuration failed: 1e20.
[[nodiscard]] bool is_mark_of_failure(const nlohmann::json& value);
inline constexpr const char* kMarkedAsFailed = "marked as failed by a time of 1e20";

/// A number of `unit_s` seconds as seconds, where it is more than nothing and finite.
[[nodiscard]] std::optional<double> positive_seconds(const nlohmann::json& value, double unit_s);
/// A list of them; invalid elements are left out. If the list contains lists, the last one counts (pairs with 0 in
/// front).
[[nodiscard]] std::vector<double> all_seconds(const nlohmann::json& object, const std::string& name, double unit_s);

}  // namespace pgtune::tool

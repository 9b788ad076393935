// SPDX-License-Identifier: MIT
// Pieces of strangers' JSON: fields that may be missing, of another type, or not fit to be shown.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/foreign/foreign_table.hpp"
#include "tuner/model/variant.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

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

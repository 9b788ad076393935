// SPDX-License-Identifier: MIT
#include "tool/pgtune/foreign/foreign_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "tuner/util/utf8.hpp"

namespace pgtune::tool {

using nlohmann::json;

const json* json_field(const json& object, const std::string& name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found != object.end() ? &*found : nullptr;
}

const json& json_list(const json& object, const std::string& name) {
  static const json kEmpty = json::array();
  const json* const list = json_field(object, name);
  return list != nullptr && list->is_array() ? *list : kEmpty;
}

bool json_flag(const json& object, const std::string& name) {
  const json* const flag = json_field(object, name);
  return flag != nullptr && flag->is_boolean() && flag->get<bool>();
}

std::string json_text(const json& object, const std::string& name, const std::string& otherwise, std::size_t bytes) {
  const json* const value = json_field(object, name);
  if (value == nullptr || !value->is_string() || value->get_ref<const std::string&>().empty()) return otherwise;
  std::string out = excerpt(value->get_ref<const std::string&>(), bytes);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  return out;
}

std::optional<ParameterValue> parameter_value(const json& value) {
  if (value.is_boolean()) return std::int64_t{value.get<bool>()};
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return value.dump();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) return value.dump();
  if (value.is_string()) return value.get<std::string>();
  return std::nullopt;
}

json value_json(const ParameterValue& value) {
  if (const auto* const number = std::get_if<std::int64_t>(&value)) return *number;
  const std::string& text = std::get<std::string>(value);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
  const json as_number = number;
  return whole && as_number.dump() == text ? as_number : json(text);
}

json values_json(const std::vector<ParameterValue>& values) {
  json out = json::array();
  for (const ParameterValue& value : values) out.push_back(value_json(value));
  return out;
}

std::vector<ParameterValue> stated_values(const json& object, const std::string& name) {
  std::vector<ParameterValue> out;
  for (const json& value : json_list(object, name)) {
    if (auto own = parameter_value(value)) out.push_back(std::move(*own));
  }
  return out;
}

std::vector<ParameterValue> values_of(const json& list) {
  if (!list.is_array()) throw json::other_error::create(501, "values that are no list", nullptr);
  std::vector<ParameterValue> out;
  for (const json& value : list) {
    auto own = parameter_value(value);
    if (!own) throw json::other_error::create(501, "a value of a parameter that is none", nullptr);
    out.push_back(std::move(*own));
  }
  return out;
}

Result<std::vector<ParameterValue>> configuration_of(const json& row, const std::vector<std::string>& names) {
  std::vector<ParameterValue> out;
  for (const std::string& name : names) {
    const json* const own = json_field(row, name);
    auto value = own != nullptr ? parameter_value(*own) : std::nullopt;
    if (!value) return fail(ErrorKind::kUsage, fmt::format("a configuration has no value of '{}'", excerpt(name)));
    out.push_back(std::move(*value));
  }
  return out;
}

json problem_json(const ForeignTable& table) {
  json size = json::parse(table.problem, nullptr, false);
  return size.is_discarded() ? json::array() : size;
}

std::optional<double> positive_seconds(const json& value, double unit_s) {
  if (!value.is_number()) return std::nullopt;
  const double time = value.get<double>() * unit_s;
  return std::isfinite(time) && time > 0 ? std::optional(time) : std::nullopt;
}

std::vector<double> all_seconds(const json& object, const std::string& name, double unit_s) {
  std::vector<double> out;
  for (const json& entry : json_list(object, name)) {
    const json& value = entry.is_array() && !entry.empty() ? entry.back() : entry;
    if (const auto time = positive_seconds(value, unit_s)) out.push_back(*time);
  }
  return out;
}

}  // namespace pgtune::tool

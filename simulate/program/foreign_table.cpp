// SPDX-License-Identifier: MIT
#include "simulate/program/foreign_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "tuner/util/json_reader.hpp"
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

json value_json(const ParameterValue& value, const ForeignTable::Parameter& parameter) {
  if (const auto* const number = std::get_if<std::int64_t>(&value)) {
    const bool truth = parameter.truths && (*number == 0 || *number == 1);
    return truth ? json(*number == 1) : json(*number);
  }
  const std::string& text = std::get<std::string>(value);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
  const json as_number = number;
  return whole && as_number.dump() == text ? as_number : json(text);
}

json values_json(const ForeignTable::Parameter& parameter) {
  json out = json::array();
  for (const ParameterValue& value : parameter.values) out.push_back(value_json(value, parameter));
  return out;
}

ForeignTable::Parameter stated_parameter(std::string name, const json& object, const std::string& list) {
  ForeignTable::Parameter out{std::move(name), {}};
  for (const json& value : json_list(object, list)) {
    out.truths = out.truths || value.is_boolean();
    if (auto own = parameter_value(value)) out.values.push_back(std::move(*own));
  }
  return out;
}

ForeignTable::Parameter parameter_with(std::string name, const json& list) {
  if (!list.is_array()) throw json::other_error::create(501, "values that are no list", nullptr);
  ForeignTable::Parameter out{std::move(name), {}};
  for (const json& value : list) {
    auto own = parameter_value(value);
    if (!own) throw json::other_error::create(501, "a value of a parameter that is none", nullptr);
    out.truths = out.truths || value.is_boolean();
    out.values.push_back(std::move(*own));
  }
  return out;
}

Result<std::vector<ParameterValue>> configuration_of(const json& row,
                                                     std::vector<ForeignTable::Parameter>& parameters) {
  std::vector<ParameterValue> out;
  for (ForeignTable::Parameter& parameter : parameters) {
    const json* const own = json_field(row, parameter.name);
    auto value = own != nullptr ? parameter_value(*own) : std::nullopt;
    if (!value)
      return fail(ErrorKind::kUsage, fmt::format("a configuration has no value of '{}'", excerpt(parameter.name)));
    parameter.truths = parameter.truths || own->is_boolean();
    out.push_back(std::move(*value));
  }
  return out;
}

json problem_json(const ForeignTable& table) {
  json size = json::parse(table.problem, nullptr, false);
  return size.is_discarded() ? json::array() : size;
}

bool is_mark_of_failure(const json& value) {
  constexpr double kMark = 1e20;
  return value.is_number() && value.get<double>() >= kMark;
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

namespace {

using nlohmann::json;

constexpr const char* kDamaged = "a table of another tool that is damaged";

/// Rows store indices into the parameters' values, which keeps the text short.
json row_json(const ForeignTable::Row& row, const std::vector<std::map<ParameterValue, std::size_t>>& places) {
  json values = json::array();
  for (std::size_t i = 0; i < row.values.size(); ++i) values.push_back(places[i].at(row.values[i]));
  return json::array({std::move(values), std::string(to_string(row.outcome.kind)), row.outcome.reason, row.cut,
                      row.time_s, row.compile_s, row.times_s});
}

ForeignTable::Row row_of(const json& in, const std::vector<ForeignTable::Parameter>& parameters) {
  ForeignTable::Row row;
  const json& values = in.at(0);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto place = values.at(i).get<std::size_t>();
    if (place >= parameters[i].values.size()) throw json::other_error::create(501, kDamaged, nullptr);
    row.values.push_back(parameters[i].values[place]);
  }
  const auto kind = enumerator_of<OutcomeKind>(in.at(1).get<std::string>());
  if (!kind) throw json::other_error::create(501, "an unknown outcome", nullptr);
  row.outcome = {*kind, in.at(2).get<std::string>()};
  in.at(3).get_to(row.cut);
  in.at(4).get_to(row.time_s);
  in.at(5).get_to(row.compile_s);
  in.at(6).get_to(row.times_s);
  return row;
}

/// For every parameter, all values that it states or a row has.
std::vector<ForeignTable::Parameter> with_all_values(const ForeignTable& table) {
  std::vector<ForeignTable::Parameter> out = table.parameters;
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (ParameterValue& value : table.values_seen(i)) {
      auto& values = out[i].values;
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(std::move(value));
    }
  }
  return out;
}

}  // namespace

std::vector<ParameterValue> ForeignTable::values_seen(std::size_t place) const {
  std::vector<ParameterValue> out;
  std::set<ParameterValue> seen;
  for (const Row& row : rows) {
    if (seen.insert(row.values[place]).second) out.push_back(row.values[place]);
  }
  return out;
}

Result<void> ForeignTableMaker::add(ForeignTable::Row row) {
  if (row.values.size() != table_.parameters.size())
    return fail(ErrorKind::kUsage, "a configuration has not one value for each parameter");
  if (row.outcome.kind == OutcomeKind::kOk && !(row.time_s > 0)) return {};
  if (table_.rows.size() == kMostForeignRows)
    return fail(ErrorKind::kUsage, fmt::format("has more than {} configurations", kMostForeignRows));
  if (!seen_.insert(row.values).second) return {};
  if (row.outcome.kind != OutcomeKind::kOk) row.time_s = 0;
  table_.rows.push_back(std::move(row));
  return {};
}

Result<ForeignTable> ForeignTableMaker::finish() && {
  const bool timed = std::any_of(table_.rows.begin(), table_.rows.end(),
                                 [](const ForeignTable::Row& row) { return row.time_s > 0 && !row.cut; });
  if (!timed) return fail(ErrorKind::kUsage, "has no configuration with a time");
  table_.parameters = with_all_values(table_);
  return std::move(table_);
}

std::string stored_text(const ForeignTable& table) {
  std::vector<std::map<ParameterValue, std::size_t>> places;
  json parameters = json::array(), constraints = json::array(), rows = json::array();
  for (const ForeignTable::Parameter& parameter : table.parameters) {
    parameters.push_back({parameter.name, values_json(parameter)});
    auto& own = places.emplace_back();
    for (std::size_t i = 0; i < parameter.values.size(); ++i) own.emplace(parameter.values[i], i);
  }
  for (const ForeignTable::Constraint& constraint : table.constraints)
    constraints.push_back({constraint.expression, constraint.reason});
  for (const ForeignTable::Row& row : table.rows) rows.push_back(row_json(row, places));
  return json{{"kernel", table.kernel},
              {"device", table.device},
              {"problem", table.problem},
              {"measured_at", table.measured_at},
              {"parameters", std::move(parameters)},
              {"constraints", std::move(constraints)},
              {"rows", std::move(rows)}}
      .dump();
}

Result<ForeignTable> foreign_table_of(std::string_view stored) {
  TRY_ASSIGN(const auto document, parse_untrusted_json(stored));
  ForeignTable table;
  std::vector<ForeignTable::Row> rows;
  try {
    table.kernel = json_text(document, "kernel", "kernel");
    table.device = json_text(document, "device", "unknown");
    document.at("problem").get_to(table.problem);
    table.measured_at = json_text(document, "measured_at", "");
    for (const json& parameter : document.at("parameters"))
      table.parameters.push_back(parameter_with(parameter.at(0).get<std::string>(), parameter.at(1)));
    for (const json& constraint : document.at("constraints"))
      table.constraints.push_back({constraint.at(0).get<std::string>(), constraint.at(1).get<std::string>()});
    for (const json& row : document.at("rows")) rows.push_back(row_of(row, table.parameters));
  } catch (const json::exception& error) {
    return fail(ErrorKind::kDatabase, cause_of(error));
  }
  const auto possible = [](double number) { return std::isfinite(number) && number >= 0; };
  ForeignTableMaker maker(std::move(table));
  for (ForeignTable::Row& row : rows) {
    if (!possible(row.time_s) || !possible(row.compile_s) ||
        !std::all_of(row.times_s.begin(), row.times_s.end(), possible))
      return fail(ErrorKind::kDatabase, "a time that nothing takes");
    if (auto added = maker.add(std::move(row)); !added) return fail(ErrorKind::kDatabase, added.error().message);
  }
  auto made = std::move(maker).finish();
  if (!made) return fail(ErrorKind::kDatabase, made.error().message);
  return made;
}

}  // namespace pgtune::tool

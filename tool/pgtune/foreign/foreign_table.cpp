// SPDX-License-Identifier: MIT
#include "tool/pgtune/foreign/foreign_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tool/pgtune/foreign/foreign_json.hpp"
#include "tuner/util/json_reader.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

constexpr const char* kDamaged = "a table of another tool that is damaged";

/// Values of parameters stand in rows by their places among the parameter's, which keeps the text short.
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

/// Of every parameter all values that it states or a row has.
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
    parameters.push_back({parameter.name, values_json(parameter.values)});
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
      table.parameters.push_back({parameter.at(0).get<std::string>(), values_of(parameter.at(1))});
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

// SPDX-License-Identifier: MIT
#include "simulate/program/kernel_tuner_cache.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "simulate/program/foreign_table.hpp"
#include "tuner/util/named_enum.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr double kUnit_s = 1e-3;
constexpr const char *kOutcome = "__outcome__", *kReason = "__reason__", *kCut = "__cut__";

/// The first word of a kind is used for writing.
constexpr std::array kErrors{std::pair{std::string_view("InvalidConfig"), OutcomeKind::kInvalid},
                             std::pair{std::string_view("CompilationFailedConfig"), OutcomeKind::kCompileFailed},
                             std::pair{std::string_view("RuntimeFailedConfig"), OutcomeKind::kLaunchFailed}};

std::string error_word(OutcomeKind kind) {
  for (const auto& [word, own] : kErrors) {
    if (own == kind) return std::string(word);
  }
  return "RuntimeFailedConfig";
}

Outcome outcome_of(const json& row) {
  const std::string reason = json_text(row, kReason, "", kMostText);
  if (const auto own = enumerator_of<OutcomeKind>(json_text(row, kOutcome, ""))) return {*own, reason};
  std::string word = json_text(row, "__error__", "");
  if (word.empty()) word = json_text(row, "time", "");
  const json* const time = json_field(row, "time");
  if (word.empty() && time != nullptr && is_mark_of_failure(*time))
    return {OutcomeKind::kLaunchFailed, kMarkedAsFailed};
  if (word.empty()) return {};
  for (const auto& [known, kind] : kErrors) {
    if (known == word) return {kind, reason.empty() ? word : reason};
  }
  return {OutcomeKind::kLaunchFailed, word};
}

Result<ForeignTable::Row> row_of(const json& in, std::vector<ForeignTable::Parameter>& parameters) {
  TRY_ASSIGN(auto values, configuration_of(in, parameters));
  ForeignTable::Row row{std::move(values), outcome_of(in)};
  const auto seconds = [&](const char* name) {
    const json* const value = json_field(in, name);
    return value != nullptr ? positive_seconds(*value, kUnit_s).value_or(0) : 0;
  };
  row.time_s = seconds("time");
  row.compile_s = seconds("compile_time");
  if (row.outcome.kind == OutcomeKind::kOk) row.times_s = all_seconds(in, "times", kUnit_s);
  row.cut = json_flag(in, kCut);
  return row;
}

ordered_json row_json(const ForeignTable& table, const ForeignTable::Row& row) {
  ordered_json out;
  for (std::size_t i = 0; i < row.values.size(); ++i)
    out[table.parameters[i].name] = value_json(row.values[i], table.parameters[i]);
  const bool right = row.outcome.kind == OutcomeKind::kOk;
  double benchmark_s = 0;
  for (const double time_s : row.times_s) benchmark_s += time_s;
  if (right) {
    out["time"] = row.time_s / kUnit_s;
    ordered_json times = ordered_json::array();
    for (const double time_s : row.times_s) times.push_back(time_s / kUnit_s);
    out["times"] = std::move(times);
    if (row.cut) out[kCut] = true;
  } else {
    out["time"] = error_word(row.outcome.kind);
    out[kOutcome] = std::string(to_string(row.outcome.kind));
    out[kReason] = row.outcome.reason;
  }
  out["compile_time"] = row.compile_s / kUnit_s;
  out["verification_time"] = 0;  // not distinguished from the rest
  out["benchmark_time"] = benchmark_s / kUnit_s;
  out["strategy_time"] = 0;
  out["framework_time"] = 0;
  out["timestamp"] = table.measured_at;
  return out;
}

/// Values joined by commas in the order of the parameters, as Kernel Tuner, which is Python, writes them.
std::string key_of(const ForeignTable& table, const ForeignTable::Row& row) {
  std::string key;
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    const json value = value_json(row.values[i], table.parameters[i]);
    key += (i == 0 ? "" : ",");
    key += value.is_boolean() ? (value.get<bool>() ? "True" : "False") : to_string(row.values[i]);
  }
  return key;
}

}  // namespace

bool is_kernel_tuner_cache(const json& document) {
  return json_field(document, "tune_params_keys") != nullptr && json_field(document, "cache") != nullptr;
}

Result<ForeignTable> read_kernel_tuner_cache(const json& document) {
  const json &keys = *json_field(document, "tune_params_keys"), &cache = *json_field(document, "cache");
  if (!keys.is_array() || keys.empty() || keys.size() > kMostForeignParameters || !cache.is_object())
    return fail(ErrorKind::kUsage, "'tune_params_keys' must be a list of names, 'cache' an object");
  ForeignTable table;
  table.kernel = json_text(document, "kernel_name", "kernel");
  table.device = json_text(document, "device_name", "unknown");
  if (const json* const size = json_field(document, "problem_size"); size != nullptr && !size->empty())
    table.problem = size->dump();
  const json* const stated = json_field(document, "tune_params");
  for (const json& key : keys) {
    if (!key.is_string()) return fail(ErrorKind::kUsage, "'tune_params_keys' must be a list of names");
    const auto& name = key.get_ref<const std::string&>();
    table.parameters.push_back(stated_parameter(name, stated != nullptr ? *stated : json(), name));
  }
  for (const json& restriction : json_list(document, "restrictions")) {
    if (restriction.is_string()) table.constraints.push_back({restriction.get<std::string>(), ""});
  }
  if (!cache.empty()) table.measured_at = json_text(*cache.begin(), "timestamp", "");
  ForeignTableMaker maker(std::move(table));
  for (const auto& [key, entry] : cache.items()) {
    TRY_ASSIGN(auto row, row_of(entry, maker.parameters()));
    TRY(maker.add(std::move(row)));
  }
  return std::move(maker).finish();
}

/// One line per row, with the cache at the end: Kernel Tuner appends to a cache's text.
std::string write_kernel_tuner_cache(const ForeignTable& table) {
  ordered_json keys = ordered_json::array(), stated = ordered_json::object(), restrictions = ordered_json::array();
  for (const ForeignTable::Parameter& parameter : table.parameters) {
    keys.push_back(parameter.name);
    stated[parameter.name] = values_json(parameter);
  }
  for (const ForeignTable::Constraint& constraint : table.constraints) restrictions.push_back(constraint.expression);
  const ordered_json head{{"schema_version", "1.1.0"},
                          {"device_name", table.device},
                          {"kernel_name", table.kernel},
                          {"problem_size", problem_json(table)},
                          {"tune_params_keys", std::move(keys)},
                          {"tune_params", std::move(stated)},
                          {"restrictions", std::move(restrictions)},
                          {"objective", "time"}};
  std::string out = "{\n";
  for (const auto& [name, value] : head.items()) out += fmt::format("\"{}\": {},\n", name, value.dump());
  out += "\"cache\": {";
  const char* separator = "\n";
  for (const ForeignTable::Row& row : table.rows) {
    out += fmt::format("{}{}: {}", separator, json(key_of(table, row)).dump(), row_json(table, row).dump());
    separator = ",\n";
  }
  return out + "}\n}";
}

}  // namespace pgtune::tool

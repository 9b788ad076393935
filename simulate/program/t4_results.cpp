// SPDX-License-Identifier: MIT
#include "simulate/program/t4_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "simulate/program/foreign_table.hpp"
#include "tuner/util/json_reader.hpp"
#include "tuner/util/named_enum.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// The first word of a kind is used for writing.
constexpr std::array kInvalidity{std::pair{std::string_view("correct"), OutcomeKind::kOk},
                                 std::pair{std::string_view("constraints"), OutcomeKind::kInvalid},
                                 std::pair{std::string_view("compile"), OutcomeKind::kCompileFailed},
                                 std::pair{std::string_view("runtime"), OutcomeKind::kLaunchFailed},
                                 std::pair{std::string_view("correctness"), OutcomeKind::kWrongResult},
                                 std::pair{std::string_view("timeout"), OutcomeKind::kTimeout}};
/// Seconds of a unit, as files spell them.
constexpr std::array kTimeUnits{std::pair{std::string_view("s"), 1.0},
                                std::pair{std::string_view("seconds"), 1.0},
                                std::pair{std::string_view("ms"), 1e-3},
                                std::pair{std::string_view("milliseconds"), 1e-3},
                                std::pair{std::string_view("miliseconds"), 1e-3},
                                std::pair{std::string_view("us"), 1e-6},
                                std::pair{std::string_view("microseconds"), 1e-6},
                                std::pair{std::string_view("ns"), 1e-9},
                                std::pair{std::string_view("nanoseconds"), 1e-9}};

template <typename Table>
auto find_word(const Table& table, std::string_view word) {
  return std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.first == word; });
}

std::string invalidity_of(OutcomeKind kind) {
  for (const auto& [word, own] : kInvalidity) {
    if (own == kind) return std::string(word);
  }
  return "runtime";
}

double unit_of(const json& object, const std::string& name) {
  const auto* const unit = find_word(kTimeUnits, json_text(object, name, "ms"));
  return unit != kTimeUnits.end() ? unit->second : 0;
}

struct Judged {
  double time_s = 0;  ///< 0: there is none
  bool marked_as_failed = false;
};

/// The measurement that a result is judged by.
Judged judged(const json& result) {
  std::string objective = "time";
  const json& objectives = json_list(result, "objectives");
  if (!objectives.empty() && objectives.front().is_string()) objective = objectives.front().get<std::string>();
  for (const json& measurement : json_list(result, "measurements")) {
    if (json_text(measurement, "name", "") != objective) continue;
    const double unit_s = unit_of(measurement, "unit");
    const json* const value = json_field(measurement, "value");
    if (unit_s > 0 && value != nullptr)
      return {positive_seconds(*value, unit_s).value_or(0), is_mark_of_failure(*value)};
  }
  return {};
}

Result<ForeignTable::Row> row_of(const json& result, std::vector<ForeignTable::Parameter>& parameters, double unit_s) {
  const std::string word = json_text(result, "invalidity", "correct");
  const auto* const known = find_word(kInvalidity, word);
  if (known == kInvalidity.end())
    return fail(ErrorKind::kUsage, fmt::format("'{}' is no invalidity of a result", excerpt(word, 40)));
  const json* const configuration = json_field(result, "configuration");
  TRY_ASSIGN(auto values, configuration_of(configuration != nullptr ? *configuration : json(), parameters));
  const auto own = enumerator_of<OutcomeKind>(json_text(result, "outcome", ""));
  ForeignTable::Row row{std::move(values), {own.value_or(known->second), json_text(result, "reason", "", kMostText)}};
  if (row.outcome.kind != OutcomeKind::kOk && row.outcome.reason.empty()) row.outcome.reason = word;
  const Judged by = judged(result);
  if (row.outcome.kind == OutcomeKind::kOk && by.marked_as_failed)
    row.outcome = {OutcomeKind::kLaunchFailed, kMarkedAsFailed};
  row.time_s = by.time_s;
  row.cut = json_flag(result, "cut");
  if (const json* const times = json_field(result, "times")) {
    if (!by.marked_as_failed) row.times_s = all_seconds(*times, "runtimes", unit_s);
    for (const char* name : {"compilation_time", "compilation"}) {
      const json* const value = json_field(*times, name);
      if (value != nullptr && row.compile_s == 0) row.compile_s = positive_seconds(*value, unit_s).value_or(0);
    }
  }
  return row;
}

ordered_json result_json(const ForeignTable& table, const ForeignTable::Row& row) {
  constexpr double kMillisecond_s = 1e-3;
  ordered_json configuration, runtimes = ordered_json::array();
  for (std::size_t i = 0; i < row.values.size(); ++i)
    configuration[table.parameters[i].name] = value_json(row.values[i], table.parameters[i]);
  for (const double time_s : row.times_s) runtimes.push_back(time_s / kMillisecond_s);
  const bool right = row.outcome.kind == OutcomeKind::kOk;
  ordered_json out{{"timestamp", table.measured_at},
                   {"configuration", std::move(configuration)},
                   {"times",
                    {{"compilation_time", row.compile_s / kMillisecond_s},
                     {"runtimes", std::move(runtimes)},
                     {"framework", 0},
                     {"search_algorithm", 0},
                     {"validation", 0}}},
                   {"invalidity", invalidity_of(row.outcome.kind)},
                   {"correctness", right ? 1 : 0},
                   {"measurements", ordered_json::array()},
                   {"objectives", {"time"}}};
  if (right) {
    out["measurements"].push_back({{"name", "time"}, {"value", row.time_s / kMillisecond_s}, {"unit", "milliseconds"}});
    if (row.cut) out["cut"] = true;
  } else {
    out["outcome"] = std::string(to_string(row.outcome.kind));
    out["reason"] = row.outcome.reason;
  }
  return out;
}

/// "[16, 'a', True]", a list of Python's constants, as JSON has it.
std::string python_as_json(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  for (const auto& [word, meaning] : {std::pair{"True", "true"}, std::pair{"False", "false"}}) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at))
      text.replace(at, std::string_view(word).size(), meaning);
  }
  return text;
}

/// The values in such a list, read and not evaluated.
std::optional<ForeignTable::Parameter> with_listed_values(const std::string& name, const std::string& text) {
  for (const std::string& form : {text, python_as_json(text)}) {
    const auto list = parse_untrusted_json(form);
    if (!list || !list->is_array()) continue;
    try {
      return parameter_with(name, *list);
    } catch (const json::exception&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_t4(const json& document) { return json_field(document, "results") != nullptr; }

Result<ForeignTable> read_t4(const json& document) {
  const json& results = *json_field(document, "results");
  if (!results.is_array() || results.empty()) return fail(ErrorKind::kUsage, "'results' must be a list of results");
  const json* const first = json_field(results.front(), "configuration");
  if (first == nullptr || !first->is_object() || first->empty() || first->size() > kMostForeignParameters)
    return fail(ErrorKind::kUsage, "a result has no 'configuration' with parameters");
  const json* const metadata = json_field(document, "metadata");
  const json nothing = json::object();
  const json& facts = metadata != nullptr ? *metadata : nothing;
  ForeignTable table;
  table.kernel = json_text(facts, "kernel_name", "kernel");
  table.device = json_text(facts, "device_name", "unknown");
  if (const json* const size = json_field(facts, "problem_size"); size != nullptr && !size->empty())
    table.problem = size->dump();
  table.measured_at = json_text(results.front(), "timestamp", "");
  // In the order of whoever wrote the file; an object has none.
  for (const json& parameter : json_list(facts, "parameters")) {
    const std::string name = json_text(parameter, "name", "");
    if (!first->contains(name)) continue;
    table.parameters.push_back(stated_parameter(name, parameter, "values"));
  }
  for (const auto& [name, value] : first->items()) {
    const bool known = std::any_of(table.parameters.begin(), table.parameters.end(),
                                   [&, own = &name](const auto& parameter) { return parameter.name == *own; });
    if (!known) table.parameters.push_back({name, {}});
  }
  for (const json& constraint : json_list(facts, "constraints"))
    table.constraints.push_back(
        {json_text(constraint, "expression", "", kMostText), json_text(constraint, "reason", "", kMostText)});
  const double unit_s = unit_of(facts, "timeunit");
  ForeignTableMaker maker(std::move(table));
  for (const json& result : results) {
    TRY_ASSIGN(auto row, row_of(result, maker.parameters(), unit_s));
    TRY(maker.add(std::move(row)));
  }
  return std::move(maker).finish();
}

std::string write_t4(const ForeignTable& table) {
  ordered_json parameters = ordered_json::array(), constraints = ordered_json::array();
  for (const ForeignTable::Parameter& parameter : table.parameters)
    parameters.push_back({{"name", parameter.name}, {"values", values_json(parameter)}});
  for (const ForeignTable::Constraint& constraint : table.constraints)
    constraints.push_back({{"expression", constraint.expression}, {"reason", constraint.reason}});
  ordered_json results = ordered_json::array();
  for (const ForeignTable::Row& row : table.rows) results.push_back(result_json(table, row));
  return ordered_json{{"schema_version", "1.0.0"},
                      {"metadata",
                       {{"timeunit", "milliseconds"},
                        {"kernel_name", table.kernel},
                        {"device_name", table.device},
                        {"problem_size", problem_json(table)},
                        {"parameters", std::move(parameters)},
                        {"constraints", std::move(constraints)}}},
                      {"results", std::move(results)}}
             .dump(1) +
         '\n';
}

Result<void> add_t1_space(const json& document, ForeignTable& table) {
  const json* const space = json_field(document, "ConfigurationSpace");
  const json* const parameters = space != nullptr ? json_field(*space, "TuningParameters") : nullptr;
  if (parameters == nullptr || !parameters->is_array())
    return fail(ErrorKind::kUsage, "is no T1 file: it has no 'ConfigurationSpace' with 'TuningParameters'");
  for (ForeignTable::Parameter& parameter : table.parameters) {
    const auto stated = std::find_if(parameters->begin(), parameters->end(),
                                     [&](const json& entry) { return json_text(entry, "Name", "") == parameter.name; });
    if (stated == parameters->end())
      return fail(ErrorKind::kUsage, fmt::format("is of another space: it has no parameter '{}'", parameter.name));
    auto listed = with_listed_values(parameter.name, json_text(*stated, "Values", "", kMostText));
    if (!listed)
      return fail(ErrorKind::kUsage, fmt::format("'Values' of '{}' is no list of constants", parameter.name));
    for (const ParameterValue& seen : parameter.values) {
      auto& values = listed->values;
      if (std::find(values.begin(), values.end(), seen) == values.end()) values.push_back(seen);
    }
    parameter.values = std::move(listed->values);
    parameter.truths = parameter.truths || listed->truths;
  }
  for (const json& condition : json_list(*space, "Conditions"))
    table.constraints.push_back({json_text(condition, "Expression", "", kMostText), ""});
  return {};
}

}  // namespace pgtune::tool

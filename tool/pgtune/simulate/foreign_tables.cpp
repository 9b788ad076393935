// SPDX-License-Identifier: MIT
#include "tool/pgtune/simulate/foreign_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/util/json_reader.hpp"
#include "tuner/util/own_files.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRows = 1'000'000, kMostParameters = 256;
constexpr std::uintmax_t kMostFileBytes = std::uintmax_t{1} << 30;

template <typename Value>
using Word = std::pair<std::string_view, Value>;

template <typename Table>
auto find_word(const Table& table, std::string_view word) {
  return std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.first == word; });
}

constexpr std::array kInvalidity{Word<OutcomeKind>{"correct", OutcomeKind::kOk},
                                 Word<OutcomeKind>{"constraints", OutcomeKind::kInvalid},
                                 Word<OutcomeKind>{"compile", OutcomeKind::kCompileFailed},
                                 Word<OutcomeKind>{"runtime", OutcomeKind::kLaunchFailed},
                                 Word<OutcomeKind>{"correctness", OutcomeKind::kWrongResult},
                                 Word<OutcomeKind>{"timeout", OutcomeKind::kTimeout}};
constexpr std::array kErrors{Word<OutcomeKind>{"InvalidConfig", OutcomeKind::kInvalid},
                             Word<OutcomeKind>{"CompilationFailedConfig", OutcomeKind::kCompileFailed},
                             Word<OutcomeKind>{"RuntimeFailedConfig", OutcomeKind::kLaunchFailed}};
/// Seconds of a unit, as files spell them.
constexpr std::array kUnits{Word<double>{"s", 1},
                            Word<double>{"seconds", 1},
                            Word<double>{"ms", 1e-3},
                            Word<double>{"milliseconds", 1e-3},
                            Word<double>{"miliseconds", 1e-3},
                            Word<double>{"us", 1e-6},
                            Word<double>{"microseconds", 1e-6},
                            Word<double>{"ns", 1e-9},
                            Word<double>{"nanoseconds", 1e-9}};

/// A parameter's value: whole numbers and truths as numbers, all else as text.
std::optional<ParameterValue> parameter_value(const json& value) {
  if (value.is_boolean()) return std::int64_t{value.get<bool>()};
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return value.dump();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) return value.dump();
  if (value.is_string()) return value.get<std::string>();
  return std::nullopt;
}

const json* field(const json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found != object.end() ? &*found : nullptr;
}

/// A text field, fit to be shown in a line.
std::string text_of(const json& object, const char* name, const char* otherwise) {
  const json* const value = field(object, name);
  if (value == nullptr || !value->is_string() || value->get_ref<const std::string&>().empty()) return otherwise;
  std::string out = excerpt(value->get_ref<const std::string&>());
  std::replace_if(
      out.begin(), out.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  return out;
}

/// A time that means anything; nothing otherwise.
std::optional<double> time_s(const json& value, double unit_s) {
  if (!value.is_number()) return std::nullopt;
  const double time = value.get<double>() * unit_s;
  return std::isfinite(time) && time > 0 ? std::optional(time) : std::nullopt;
}

class ForeignTableMaker {
 public:
  ForeignTableMaker(const std::string& origin, std::string name, std::string device,
                    std::vector<std::string> parameters)
      : parameters_(std::move(parameters)) {
    table_.origin = origin;
    table_.name = std::move(name);
    table_.device.name = std::move(device);
    table_.templates = {table_.name};
  }

  /// A row with its parameters in `values`; without a time a row that is right is left out.
  Result<void> add(const json& values, OutcomeKind outcome, std::optional<double> time) {
    if (outcome == OutcomeKind::kOk && !time) return {};
    if (table_.table.variants.size() == kMostRows)
      return fail(ErrorKind::kUsage, fmt::format("has more than {} configurations", kMostRows));
    Variant variant{table_.name, {}};
    for (const std::string& name : parameters_) {
      const json* const own = field(values, name.c_str());
      const auto value = own != nullptr ? parameter_value(*own) : std::nullopt;
      if (!value) return fail(ErrorKind::kUsage, fmt::format("a configuration has no value of '{}'", name));
      variant.parameters.push_back({name, *value});
    }
    if (!seen_.insert(variant.key()).second) return {};  // the first counts
    table_.table.variants.push_back(std::move(variant));
    table_.table.costs.emplace_back();
    table_.table.observations.push_back({outcome, false, outcome == OutcomeKind::kOk ? *time : 0});
    return {};
  }

  Result<RecordedTable> finish() && {
    table_.table.template_sizes = {table_.table.variants.size()};
    if (!table_.table.best_s()) return fail(ErrorKind::kUsage, "has no configuration with a time");
    return std::move(table_);
  }

 private:
  std::vector<std::string> parameters_;
  std::set<std::string> seen_;
  RecordedTable table_;
};

Result<RecordedTable> kernel_tuner_table(const json& document, const std::string& origin) {
  const json &keys = *field(document, "tune_params_keys"), &cache = *field(document, "cache");
  if (!keys.is_array() || keys.empty() || keys.size() > kMostParameters || !cache.is_object())
    return fail(ErrorKind::kUsage, "'tune_params_keys' must be a list of names, 'cache' an object");
  std::vector<std::string> names;
  for (const json& key : keys) {
    if (!key.is_string()) return fail(ErrorKind::kUsage, "'tune_params_keys' must be a list of names");
    names.push_back(key.get<std::string>());
  }
  ForeignTableMaker maker(origin, text_of(document, "kernel_name", "kernel"),
                          text_of(document, "device_name", "unknown"), std::move(names));
  constexpr double kUnit_s = 1e-3;
  for (const auto& [key, row] : cache.items()) {
    const json *const time = field(row, "time"), *const error = field(row, "__error__");
    const json* const word = error != nullptr ? error : time;
    OutcomeKind outcome = OutcomeKind::kOk;
    if (word != nullptr && word->is_string()) {
      const auto* const known = find_word(kErrors, word->get<std::string>());
      outcome = known != kErrors.end() ? known->second : OutcomeKind::kLaunchFailed;
    }
    const auto own = time != nullptr ? time_s(*time, kUnit_s) : std::nullopt;
    if (auto added = maker.add(row, outcome, own); !added) return tl::unexpected<Error>(added.error());
  }
  return std::move(maker).finish();
}

/// The measurement that a T4 result is judged by, in seconds.
std::optional<double> t4_time_s(const json& result) {
  std::string objective = "time";
  const json *const objectives = field(result, "objectives"), *const measurements = field(result, "measurements");
  if (objectives != nullptr && objectives->is_array() && !objectives->empty() && objectives->front().is_string())
    objective = objectives->front().get<std::string>();
  if (measurements == nullptr || !measurements->is_array()) return std::nullopt;
  for (const json& measurement : *measurements) {
    if (text_of(measurement, "name", "") != objective) continue;
    const auto* const unit = find_word(kUnits, text_of(measurement, "unit", "ms"));
    const json* const value = field(measurement, "value");
    if (unit != kUnits.end() && value != nullptr) return time_s(*value, unit->second);
  }
  return std::nullopt;
}

Result<RecordedTable> t4_table(const json& document, const std::string& origin) {
  const json& results = *field(document, "results");
  if (!results.is_array() || results.empty()) return fail(ErrorKind::kUsage, "'results' must be a list of results");
  const json* const first = field(results.front(), "configuration");
  if (first == nullptr || !first->is_object() || first->empty() || first->size() > kMostParameters)
    return fail(ErrorKind::kUsage, "a result has no 'configuration' with parameters");
  std::vector<std::string> names;
  for (const auto& [name, value] : first->items()) names.push_back(name);
  const json* const metadata = field(document, "metadata");
  const json nothing = json::object();
  const json& facts = metadata != nullptr ? *metadata : nothing;
  ForeignTableMaker maker(origin, text_of(facts, "kernel_name", "kernel"), text_of(facts, "device_name", "unknown"),
                          std::move(names));
  for (const json& result : results) {
    const std::string word = text_of(result, "invalidity", "correct");
    const auto* const known = find_word(kInvalidity, word);
    if (known == kInvalidity.end())
      return fail(ErrorKind::kUsage, fmt::format("'{}' is no invalidity of a result", word.substr(0, 40)));
    const json* const configuration = field(result, "configuration");
    if (auto added = maker.add(configuration != nullptr ? *configuration : nothing, known->second, t4_time_s(result));
        !added)
      return tl::unexpected<Error>(added.error());
  }
  return std::move(maker).finish();
}

Result<json> parse(std::string_view text) {
  auto document = parse_untrusted_json(text);
  if (document) return document;
  // Kernel Tuner leaves the file open while it is tuning.
  std::string closed(text.substr(0, text.find_last_not_of(" \t\r\n") + 1));
  if (closed.ends_with(',')) closed.pop_back();
  auto again = parse_untrusted_json(closed + "}}");
  return again ? std::move(again) : std::move(document);
}

}  // namespace

Result<RecordedTable> foreign_table(std::string_view text, const std::string& origin) {
  const auto document = parse(text);
  if (!document) return fail(ErrorKind::kUsage, fmt::format("{} is no JSON: {}", origin, document.error().message));
  const bool kernel_tuner = field(*document, "tune_params_keys") != nullptr && field(*document, "cache") != nullptr;
  if (!kernel_tuner && field(*document, "results") == nullptr)
    return fail(ErrorKind::kUsage, origin +
                                       " is neither a cache of Kernel Tuner ('tune_params_keys' and 'cache') nor a T4 "
                                       "file ('results')");
  auto table = kernel_tuner ? kernel_tuner_table(*document, origin) : t4_table(*document, origin);
  if (!table) return fail(ErrorKind::kUsage, fmt::format("{} {}", origin, table.error().message));
  return table;
}

RecordedTable read_foreign_table(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::file_size(path, ignored) > kMostFileBytes && !ignored)
    throw CommandError(ErrorKind::kUsage, fmt::format("{} has more than 1 GiB. Give a smaller table.", path));
  const auto text = read_file(path);
  if (!text)
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("{} cannot be read. Give a T4 file or a cache of Kernel Tuner.", path));
  if (text->starts_with("\x1f\x8b"))
    throw CommandError(ErrorKind::kUsage, fmt::format("{} is compressed. Give what gunzip makes of it.", path));
  return value_or_throw(foreign_table(*text, path));
}

}  // namespace pgtune::tool

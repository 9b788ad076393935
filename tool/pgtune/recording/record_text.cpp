// SPDX-License-Identifier: MIT
#include "tool/pgtune/recording/record_text.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <variant>

#include "tuner/model/json.hpp"
#include "tuner/model/kernel_counters.hpp"
#include "tuner/session/answer_json.hpp"
#include "tuner/util/fields_json.hpp"
#include "tuner/util/json_reader.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::tool {
namespace {

/// Nothing if there is no error.
using Flaw = std::optional<std::string>;

/// A check for the words that `parse` knows.
template <typename Parse>
db::ColumnCheck word_of(Parse parse) {
  return [parse](const db::Value& value) -> Flaw {
    const std::string& word = std::get<std::string>(value);
    if (parse(word)) return std::nullopt;
    return fmt::format("unknown word '{}'", excerpt(word));
  };
}

}  // namespace

std::optional<std::string> no_launches(const db::Value& value) {
  if (is_launch_count(std::get<std::int64_t>(value))) return std::nullopt;
  return "a sample without launches";
}

std::optional<std::string> no_sample_time(const db::Value& value) {
  if (is_sample_time(std::get<double>(value))) return std::nullopt;
  return fmt::format("no time that a sample takes: {} s", std::get<double>(value));
}

const db::ColumnChecks& record_checks() {
  static const db::ColumnChecks kChecks{
      {"best.answer_json", no_record<session::Answer>},
      {"samples.launches", no_launches},
      {"samples.time_s", no_sample_time},
      {"ceilings.ceilings_json", no_record<Ceilings>},
      {"conditions.conditions_json", no_record<Conditions>},
      {"conditions.key", word_of([](const std::string& word) { return parse_conditions(word).has_value(); })},
      {"devices.info_json", no_record<DeviceInfo>},
      {"kernel_counters.counters_json", no_record<KernelCounters>},
      {"outcomes.kind", word_of([](const std::string& word) { return enumerator_of<OutcomeKind>(word).has_value(); })},
      {"problems.problem_json", no_record<Problem>},
      {"baseline_reports.report_json", no_record<BaselineReport>},
      {"round_samples.launches", no_launches},
      {"round_samples.time_s", no_sample_time},
      {"stages.name", word_of([](const std::string& word) { return enumerator_of<Stage>(word).has_value(); })},
      {"variants.parameters_json", no_record<nlohmann::json::object_t>},
  };
  return kChecks;
}

}  // namespace pgtune::tool

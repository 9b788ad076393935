// SPDX-License-Identifier: MIT
#include "tool/pgtune/page/page_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "tuner/stats/descriptive.hpp"
#include "tuner/stats/importance.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

constexpr double kMicroseconds = 1e6;
constexpr std::size_t kShownReasons = 12;
constexpr std::size_t kReasonBytes = 240;

/// A variant that was right and timed.
struct TimedVariant {
  const db::VariantRow* row = nullptr;
  double time_s = 0;
  bool cut = false;
};

double median_time(const TrialReport& report) {
  std::vector<double> times;
  for (const Sample& sample : report.samples) times.push_back(sample.per_launch_s());
  return stats::median(times);
}

/// One parameter of a template: its values by number, and each variant's number; -1 without one.
struct ParameterColumn {
  std::string name;
  std::vector<std::string> values;
  std::vector<int> of_variant;
  double importance = 0;
};

/// Names and values of a variant's key, "BM=128,COPY=cp_async".
std::vector<std::pair<std::string, std::string>> assignments(std::string_view key) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!key.empty()) {
    const std::string_view part = key.substr(0, key.find(','));
    key.remove_prefix(std::min(part.size() + 1, key.size()));
    const std::size_t equals = std::min(part.find('='), part.size());
    out.emplace_back(part.substr(0, equals), part.substr(std::min(equals + 1, part.size())));
  }
  return out;
}

/// Numbers by size, words by their letters.
bool value_less(const std::string& a, const std::string& b) {
  char *a_end = nullptr, *b_end = nullptr;
  const double a_number = std::strtod(a.c_str(), &a_end), b_number = std::strtod(b.c_str(), &b_end);
  const bool numbers = *a_end == '\0' && *b_end == '\0' && !a.empty() && !b.empty();
  return numbers && a_number != b_number ? a_number < b_number : a < b;
}

/// Those with several values, the most important first.
std::vector<ParameterColumn> parameter_columns(const std::vector<TimedVariant>& variants) {
  std::vector<ParameterColumn> columns;
  std::map<std::string, std::map<std::string, std::vector<std::size_t>>> seen;
  std::vector<std::string> order;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    for (auto& [name, value] : assignments(variants[i].row->key)) {
      if (!seen.contains(name)) order.push_back(name);
      seen[name][value].push_back(i);
    }
  }
  std::vector<double> log_times;
  for (const TimedVariant& variant : variants) log_times.push_back(std::log(variant.time_s));
  for (const std::string& name : order) {
    if (seen[name].size() < 2) continue;
    ParameterColumn column{name, {}, std::vector<int>(variants.size(), -1)};
    for (const auto& [value, of_value] : seen[name]) column.values.push_back(value);
    std::sort(column.values.begin(), column.values.end(), value_less);
    for (std::size_t v = 0; v < column.values.size(); ++v) {
      for (const std::size_t i : seen[name][column.values[v]]) column.of_variant[i] = static_cast<int>(v);
    }
    column.importance = stats::explained_variance(column.of_variant, log_times);
    columns.push_back(std::move(column));
  }
  std::stable_sort(columns.begin(), columns.end(),
                   [](const auto& a, const auto& b) { return a.importance > b.importance; });
  return columns;
}

/// Selects from variants sorted by time: the fastest for half of the limit, and the rest evenly to the slowest.
std::vector<std::size_t> chosen(std::size_t count, std::size_t limit) {
  std::vector<std::size_t> out(std::min(count, limit));
  std::iota(out.begin(), out.end(), 0);
  if (count <= limit) return out;
  const std::size_t first = limit / 2, rest = limit - first;
  for (std::size_t i = 0; i < rest; ++i) out[first + i] = first + (count - first) * (i + 1) / rest - 1;
  return out;
}

json space_data(const std::string& name, std::vector<TimedVariant> variants, std::size_t limit, SharedTexts& texts) {
  std::stable_sort(variants.begin(), variants.end(),
                   [](const TimedVariant& a, const TimedVariant& b) { return a.time_s < b.time_s; });
  const std::vector<ParameterColumn> columns = parameter_columns(variants);
  json parameters = json::array(), rows = json::array();
  for (const ParameterColumn& column : columns)
    parameters.push_back({texts.number_of(fmt::format("{}={}", column.name, fmt::join(column.values, ","))),
                          compact(column.importance, 3)});
  for (const std::size_t i : chosen(variants.size(), limit)) {
    json row = {compact(variants[i].time_s * kMicroseconds), variants[i].cut ? 1 : 0};
    for (const ParameterColumn& column : columns) row.push_back(column.of_variant[i]);
    rows.push_back(std::move(row));
  }
  return {
      {"template", name}, {"timed", variants.size()}, {"parameters", std::move(parameters)}, {"rows", std::move(rows)}};
}

json outcomes_data(const std::vector<db::PastTrialRow>& history, SharedTexts& texts) {
  std::map<std::pair<OutcomeKind, std::string>, std::size_t> counts;
  for (const db::PastTrialRow& row : history) {
    const TrialReport& report = row.trial.report;
    const bool right = report.outcome.kind == OutcomeKind::kOk;
    const std::string reason = right ? (report.cut ? "clearly slow, cut early" : "timed") : report.outcome.reason;
    ++counts[{report.outcome.kind, excerpt(reason, kReasonBytes)}];
  }
  std::vector<std::pair<std::pair<OutcomeKind, std::string>, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  json out = json::array();
  std::size_t others = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [outcome, count] = sorted[i];
    if (i >= kShownReasons) {
      others += count;
      continue;
    }
    out.push_back({to_string(outcome.first), texts.number_of(outcome.second), count});
  }
  if (others > 0) out.push_back({"others", texts.number_of("for other reasons"), others});
  return out;
}

}  // namespace

json search_data(const std::vector<db::PastTrialRow>& history, std::size_t variant_limit, SharedTexts& texts) {
  std::map<std::string, std::vector<TimedVariant>> by_template;
  json progress = json::array();
  std::size_t timed = 0;
  double best_s = 0;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const db::TrialRow& trial = history[i].trial;
    if (trial.report.outcome.kind != OutcomeKind::kOk || trial.report.samples.empty()) continue;
    const double time_s = median_time(trial.report);
    if (!(time_s > 0)) continue;
    ++timed;
    by_template[trial.variant.origin.name].push_back({&trial.variant, time_s, trial.report.cut});
    if (best_s > 0 && time_s >= best_s) continue;
    best_s = time_s;
    progress.push_back({i + 1, compact(time_s * kMicroseconds), history[i].recorded_at_ms});
  }
  json spaces = json::array();
  // Each template's share of the limit is proportional to its number of timed variants.
  for (auto& [name, variants] : by_template) {
    const std::size_t limit = std::max<std::size_t>(variant_limit * variants.size() / timed, 2);
    spaces.push_back(space_data(name, std::move(variants), limit, texts));
  }
  return {{"tried", history.size()},
          {"timed", timed},
          {"progress", std::move(progress)},
          {"spaces", std::move(spaces)},
          {"outcomes", outcomes_data(history, texts)}};
}

}  // namespace pgtune::tool

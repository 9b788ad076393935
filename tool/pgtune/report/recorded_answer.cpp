// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/recorded_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "db/queries/queries.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::tool {
namespace {

/// The `templates` whose variants the session tried, with their hashes at that time.
space::TemplateSet as_recorded(const space::TemplateSet& templates, const std::vector<db::TemplateRow>& tried) {
  std::vector<space::TemplateDefinition> out;
  for (const space::TemplateDefinition& definition : templates.definitions()) {
    const auto row = std::find_if(tried.begin(), tried.end(), [&](const auto& t) { return t.name == definition.name; });
    if (row != tried.end()) out.emplace_back(definition).content_hash = row->content_hash;
  }
  return space::TemplateSet(std::move(out));
}

RecordedAnswer read(const db::Database& recording, db::BestRow row, const space::TemplateSet& templates) {
  std::vector<db::TemplateRow> tried = db::tried_templates(recording)[row.session];
  tried.insert(tried.begin(), row.variant_origin);  // a file from elsewhere may have no trial of it
  StoredResult result = read_result(std::move(row), recording.origin());
  if (result.answer.best().variant.template_name != result.row.variant_origin.name)
    throw db::Error(fmt::format("{}: the answer of session {} is of another template than its row. Restore the file "
                                "from a copy, or give another recording.",
                                recording.origin(), result.row.session),
                    0);
  std::string version = db::session_programs(recording)[result.row.session].version;
  return {&recording, std::move(result), std::move(version), as_recorded(templates, tried)};
}

/// The distance of `other` from `wanted`, of the same operation: another dtype counts most, then another layout, then
/// the factor between the sizes, then any other difference.
auto distance(const Problem& wanted, const Problem& other) {
  const std::vector<NamedValue> ours = wanted.sizes(), theirs = other.sizes();
  double squares = 0;
  for (std::size_t i = 0; i < ours.size() && i < theirs.size(); ++i) {
    const double times =
        std::log2(static_cast<double>(std::max<std::int64_t>(theirs[i].value, 1)) / static_cast<double>(ours[i].value));
    squares += times * times;
  }
  const bool otherwise = wanted.type_of_c() != other.type_of_c() || wanted.epilogue != other.epilogue ||
                         wanted.alpha != other.alpha || wanted.beta != other.beta || wanted.chained != other.chained;
  return std::make_tuple(wanted.dtype != other.dtype, wanted.layout() != other.layout(), squares, otherwise,
                         other.title());
}

/// "A, B and 12 more": the nearest few of `known`.
std::string nearest_text(const Problem& wanted, std::vector<Problem> known) {
  constexpr std::size_t kShown = 5;
  std::sort(known.begin(), known.end(),
            [&](const Problem& a, const Problem& b) { return distance(wanted, a) < distance(wanted, b); });
  known.erase(std::unique(known.begin(), known.end()), known.end());  // held by several recordings
  std::vector<std::string> titles;
  for (const Problem& problem : known) {
    if (titles.size() < kShown) titles.push_back(problem.title());
  }
  const std::size_t more = known.size() - titles.size();
  return fmt::format("{}{}", fmt::join(titles, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

std::optional<RecordedAnswer> recorded_answer(const std::vector<db::Database>& recordings,
                                              const space::TemplateSet& templates, const Problem& problem,
                                              const Conditions& conditions, session::Objective objective,
                                              const std::string& device_name) {
  const db::BestFilter filter{.problem_key = problem.key(), .conditions_key = conditions.key(), .recorded = false};
  std::optional<RecordedAnswer> found;
  std::tuple<bool, bool, std::string> found_is;  // on such a device, of this version, finished at
  for (const db::Database& recording : recordings) {
    for (db::BestRow& row : db::list_best(recording, filter)) {
      const auto& all = templates.definitions();
      const auto own = std::find_if(all.begin(), all.end(),
                                    [&](const auto& definition) { return definition.name == row.variant_origin.name; });
      if (own == all.end()) continue;
      const std::string measured_hash = row.variant_origin.content_hash;
      const bool this_version = own->content_hash == measured_hash;
      RecordedAnswer answer = read(recording, std::move(row), templates);
      const std::tuple is{answer.result.device.name == device_name, this_version, answer.result.row.finished_at};
      if (answer.result.answer.objective != objective || (found && is <= found_is)) continue;
      if (!this_version) answer.result.other_versions.push_back({own->name, measured_hash, own->content_hash});
      found = std::move(answer);
      found_is = is;
    }
  }
  return found;
}

std::string unrecorded_text(const std::vector<db::Database>& recordings, const Problem& problem) {
  constexpr std::size_t kMostBytes = 1000;
  const std::string& origin = recordings.front().origin();
  std::vector<Problem> known;
  std::set<std::string> keys, held_as;
  for (const db::Database& recording : recordings) {
    for (const db::SessionRow& row : db::list_sessions(recording)) {
      if (row.recorded || row.kind != "search" || row.finished_at.empty()) continue;
      if (row.problem_key == problem.key())
        held_as.insert(fmt::format("'{}' with {}", excerpt(row.conditions_key), excerpt(row.template_name)));
      if (!keys.insert(row.problem_key).second) continue;
      auto other = db::find_problem(recording, row.problem_key);
      if (other && other->operation_name() == problem.operation_name()) known.push_back(std::move(*other));
    }
  }
  if (!held_as.empty())
    return fmt::format(
        "{} holds {} under {} only. Ask for these conditions and templates (--regime, --l2, --data, --data-seed, "
        "--template), and for the fastest (--objective time).",
        origin, problem.title(), excerpt(fmt::format("{}", fmt::join(held_as, "; ")), kMostBytes));
  if (known.empty()) return fmt::format("{} holds no {}.", origin, problem.operation_name());
  return fmt::format("{} does not hold {}. Nearest to it, it holds: {}.", origin, problem.title(),
                     nearest_text(problem, std::move(known)));
}

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/stored_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>

#include "db/queries/records.hpp"
#include "db/queries/stored_records.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/recording/record_text.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"
#include "tuner/session/answer_json.hpp"
#include "tuner/util/json_depth.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::tool {
namespace {

/// No shapes admit all.
bool is_wanted(const std::vector<RequestedShape>& shapes, const Problem& problem) {
  return shapes.empty() || std::any_of(shapes.begin(), shapes.end(),
                                       [&](const RequestedShape& shape) { return shape.includes(problem); });
}

/// Whether --on `wanted` admits a device: all where it is empty. Case does not count.
bool is_on(std::string_view wanted, const std::string& uuid, const std::string& device_class) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return wanted.empty() || uuid == wanted ||
         std::search(device_class.begin(), device_class.end(), wanted.begin(), wanted.end(), same) !=
             device_class.end();
}

/// Templates that are not built in have no known version here.
void compare_versions(std::vector<StoredResult>& results, const Catalogue& catalogue) {
  std::map<std::string, std::string> built;
  for (const std::string& name : catalogue.all_names()) built[name] = catalogue.load(name).content_hash;
  for (StoredResult& result : results) {
    const db::TemplateRow& origin = result.row.variant_origin;
    const auto here = built.find(origin.name);
    if (here != built.end() && here->second != origin.content_hash)
      result.other_versions.push_back({origin.name, origin.content_hash, here->second});
  }
}

bool tells_more(const StoredResult& a, const StoredResult& b) {
  if (a.other_versions.empty() != b.other_versions.empty()) return a.other_versions.empty();
  if (a.answer.from_final != b.answer.from_final) return a.answer.from_final;
  return a.answer.best().time_s < b.answer.best().time_s;
}

/// For errors.
std::string subject_of(const db::BestRow& row, const std::string& origin) {
  return fmt::format("{}: the result of session {} for '{}'", origin, row.session, excerpt(row.problem_key));
}

}  // namespace

StoredResult read_result(db::BestRow row, const std::string& origin) {
  const std::string subject = subject_of(row, origin);
  StoredResult result;
  result.problem = db::record_of<Problem>(row.problem_json, subject);
  result.device = db::record_of<DeviceInfo>(row.device_json, subject);
  result.answer = db::record_of<session::Answer>(row.answer_json, subject, kSearchAgainRemedy);
  result.problem = with_counts(std::move(result.problem), result.answer.baseline.counts);
  result.conditions = db::conditions_of(row.conditions_key);
  result.row = std::move(row);
  return result;
}

std::vector<StoredResult> one_a_problem(std::vector<StoredResult> results) {
  using Question = std::tuple<std::string, std::string, std::string, bool>;
  std::map<Question, std::size_t> places;
  std::vector<StoredResult> out;
  for (StoredResult& result : results) {
    const Question question{result.problem.key(), device_class(result.device).text(), result.row.conditions_key,
                            result.row.recorded};
    const auto [place, added] = places.try_emplace(question, out.size());
    if (added) {
      out.push_back(std::move(result));
    } else if (tells_more(result, out[place->second])) {
      out[place->second] = std::move(result);
    }
  }
  return out;
}

void ResultFilter::add_to(CommandLine& app) {
  problems_.add_to(app);
  add_database_option(app, database_);
  app.add_option("--on", device_,
                 "Only results of this device: its UUID, or part of its class as show prints it (H200, 700 W)")
      .option_text("DEVICE");
  app.add_option("--template", template_, "Only results whose best variant is of this template")
      .option_text("NAME|FILE.json");
  app.add_option("--source", source_, "Only results measured on a GPU here, or only recorded ones")
      .option_text("gpu|recorded")
      .one_of({"gpu", "recorded"});
}

std::vector<StoredResult> ResultFilter::load(Context& context) const {
  std::vector<StoredResult> results = load(context, open_database(context), false);
  std::vector<RequestedShape> missing = wanted();
  const auto families = missing.empty() ? std::vector<db::FamilyRow>() : load_families(context);
  const std::size_t all = missing.size();
  std::erase_if(missing, [&](const RequestedShape& shape) {
    return std::any_of(results.begin(), results.end(),
                       [&](const StoredResult& result) { return shape.includes(result.problem); }) ||
           std::any_of(families.begin(), families.end(),
                       [&](const db::FamilyRow& row) { return shape.meets(row.family); });
  });
  if (!missing.empty() && missing.size() < all)
    context.terminal().note(
        fmt::format("{} of {} shapes have no result, the first {}.", missing.size(), all, missing.front().title()));
  return results;
}

std::vector<StoredResult> ResultFilter::load_boards(const Context& context,
                                                    const std::optional<std::set<std::string>>& problems) const {
  return load(context, open_database(context), true, problems);
}

std::vector<StoredResult> ResultFilter::load_from(const Context& context, const std::string& path) const {
  return load(context, context.open_database(path, db::OpenMode::kReadOnly), false);
}

std::vector<Problem> ResultFilter::problems_of_file(const std::string& file) {
  other_shapes_ = true;
  return problems_.problems_of_file(file);
}

void ResultFilter::require_shape_for_options() const {
  if (other_shapes_) return;
  if (const std::string option = problems_.option_without_shape(); !option.empty())
    throw CommandError(ErrorKind::kUsage, fmt::format("{0} says more about a shape, and no shape is given. Add --shape "
                                                      "MxNxK, or leave out {0}.",
                                                      option));
}

std::vector<StoredResult> ResultFilter::load(const Context& context, const db::Database& database, bool boards,
                                             const std::optional<std::set<std::string>>& problems) const {
  require_shape_for_options();
  db::BestFilter filter;
  if (!template_.empty())
    filter.winner_template = Catalogue::is_path(template_) ? context.catalogue()
                                                                 .with_include_folders(problems_.include_folders())
                                                                 .load(template_, problems_.operation())
                                                                 .name
                                                           : template_;
  if (!source_.empty()) filter.recorded = source_ == "recorded";
  const std::vector<RequestedShape> shapes = wanted();
  const LoadedOperation* const operation = problems_.operation();
  filter.each_board = boards;
  std::vector<db::BestRow> rows = db::list_best(database, filter);
  if (boards) {
    filter.kind = "bench";
    std::ranges::move(db::list_best(database, filter), std::back_inserter(rows));
  }
  std::vector<StoredResult> results;
  for (db::BestRow& row : rows) {
    if (problems && !problems->contains(row.problem_key)) continue;
    // Most of a row is its answer, which is read only where it is wanted.
    if (!shapes.empty() &&
        !is_wanted(shapes, db::record_of<Problem>(row.problem_json, subject_of(row, database.origin()))))
      continue;
    StoredResult result = read_result(std::move(row), database.origin());
    if (operation != nullptr && result.problem.operation_name() != operation->definition.name) continue;
    if (!is_on(device_, result.row.device_uuid, device_class(result.device).text())) continue;
    results.push_back(std::move(result));
  }
  compare_versions(results, context.catalogue());
  const auto order = [](const StoredResult& result) {
    const Problem& p = result.problem;
    return std::make_tuple(p.flops(), p.m, p.n, p.k, p.key(), result.device.name, result.row.variant_origin.name,
                           result.row.conditions_key);
  };
  std::stable_sort(results.begin(), results.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return results;
}

std::vector<db::FamilyRow> ResultFilter::load_families(const Context& context) const {
  if (!template_.empty() || problems_.operation() != nullptr) return {};
  db::FamilyFilter filter;
  if (!source_.empty()) filter.recorded = source_ == "recorded";
  std::vector<db::FamilyRow> families = db::list_families(open_database(context), filter);
  const std::vector<RequestedShape> shapes = wanted();
  std::erase_if(families, [&](const db::FamilyRow& row) {
    const bool elsewhere = !is_on(device_, row.device_uuid, row.device_class);
    return elsewhere ||
           (!shapes.empty() && std::none_of(shapes.begin(), shapes.end(),
                                            [&](const RequestedShape& shape) { return shape.meets(row.family); }));
  });
  return families;
}

bool ResultFilter::admits(const Problem& problem, const DeviceInfo& device) const {
  require_shape_for_options();
  if (!is_on(device_, device.uuid, device_class(device).text())) return false;
  return is_wanted(wanted(), problem);
}

std::vector<RequestedShape> ResultFilter::wanted() const {
  return problems_.any_shape() ? problems_.requested() : std::vector<RequestedShape>();
}

std::string ResultFilter::database_option() const { return database_option_text(database_); }

std::filesystem::path ResultFilter::database_path(const Context& context) const {
  return context.database_path(database_);
}

db::Database ResultFilter::open_database(const Context& context) const {
  return context.open_database(database_, db::OpenMode::kReadOnly);
}

std::string ResultFilter::nothing_found(const Context& context) const {
  const std::string path = context.database_path(database_).string();
  const bool filtered = problems_.any_shape() || problems_.operation() != nullptr || !device_.empty() ||
                        !template_.empty() || !source_.empty();
  return filtered ? fmt::format("no result in {} matches; leave out a filter, or run pgtune search for it", path)
                  : fmt::format("{} holds no results yet; run pgtune search --shape MxNxK first", path);
}

}  // namespace pgtune::tool

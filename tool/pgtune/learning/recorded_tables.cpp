// SPDX-License-Identifier: MIT
#include "tool/pgtune/learning/recorded_tables.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>

#include "db/queries/queries.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/space/estimate.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::tool {

KnownTemplates::KnownTemplates(const Catalogue& catalogue) {
  for (const std::string& name : catalogue.all_names()) by_name_.emplace(name, catalogue.load(name));
}

void KnownTemplates::add(const space::TemplateDefinition& definition) {
  // A template with the same content may lack its preset here, which would change the model of the same searches.
  const space::TemplateDefinition* const known = find(definition.name);
  if (known == nullptr) new_names_.insert(definition.name);
  if (known == nullptr || known->content_hash != definition.content_hash)
    by_name_.insert_or_assign(definition.name, definition);
}

const space::TemplateDefinition* KnownTemplates::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found != by_name_.end() ? &found->second : nullptr;
}

namespace {

/// The key of a table.
using TableKey = std::tuple<std::string, std::string, std::string>;  // problem, device class, conditions

struct Searched {
  db::SessionRow newest;
  std::map<std::string, std::string> versions;  ///< content hash by template, of the newest search that tried it
};

/// `sessions`: newest first.
std::map<TableKey, Searched> searched(const db::Database& database, std::span<const db::SessionRow> sessions) {
  std::map<TableKey, Searched> out;
  const auto tried = db::tried_templates(database);
  for (const db::SessionRow& row : sessions) {
    if (row.recorded || row.kind != "search") continue;
    const auto templates = tried.find(row.id);
    if (templates == tried.end()) continue;
    Searched& searched =
        out.try_emplace({row.problem_key, row.device_class, row.conditions_key}, Searched{row, {}}).first->second;
    for (const db::TemplateRow& version : templates->second)
      searched.versions.try_emplace(version.name, version.content_hash);
  }
  return out;
}

ParameterValue value_of(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return text;
}

/// For a template that is not available: the values in its key.
Variant variant_of_key(const std::string& template_name, const std::string& key) {
  Variant variant{template_name, {}};
  for (std::size_t begin = 0; begin < key.size();) {
    const std::size_t end = std::min(key.find(',', begin), key.size());
    const std::string part = key.substr(begin, end - begin);
    const std::size_t equals = std::min(part.find('='), part.size());
    variant.parameters.push_back(
        {part.substr(0, equals), value_of(equals < part.size() ? part.substr(equals + 1) : "")});
    begin = end + 1;
  }
  return variant;
}

class TableMaker {
 public:
  explicit TableMaker(RecordedTable& out, const space::TemplateDefinition* definition)
      : out_(out), definition_(definition), begin_(out.table.variants.size()) {}

  void add(const std::string& template_name, const std::string& key, const db::TrialRow& trial) {
    const TrialReport& report = trial.report;
    std::optional<Variant> variant =
        definition_ != nullptr ? space::recorded_variant(*definition_, key) : variant_of_key(template_name, key);
    if (!variant) return;
    const bool same_parameters =
        rows_.empty() || std::equal(variant->parameters.begin(), variant->parameters.end(),
                                    rows_.front().variant.parameters.begin(), rows_.front().variant.parameters.end(),
                                    [](const Assignment& a, const Assignment& b) { return a.name == b.name; });
    if (!same_parameters) return;
    std::optional<double> cost;
    if (definition_ != nullptr) {
      const auto clocks = space::cost_clocks(*definition_, *variant, out_.problem, out_.device);
      if (!clocks) return;
      cost = *clocks;
    }
    const bool ok = report.outcome.kind == OutcomeKind::kOk;
    rows_.push_back({places(*variant),
                     std::move(*variant),
                     cost,
                     {report.outcome.kind, report.cut, ok ? session::median_per_launch_s(report.samples) : 0},
                     {report.outcome.reason, times_s(report.samples), trial.build ? trial.build->compile_s : 0}});
  }

  /// Adds the template's rows to the table, in the order of an enumeration.
  void finish() {
    if (rows_.empty()) return;
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.places < b.places; });
    out_.templates.push_back(rows_.front().variant.template_name);
    out_.table.template_sizes.push_back(rows_.size());
    for (Row& row : rows_) {
      out_.table.variants.push_back(std::move(row.variant));
      out_.table.costs.push_back(row.cost);
      out_.table.observations.push_back(row.observation);
      out_.details.push_back(std::move(row.detail));
    }
    if (definition_ == nullptr) return;
    add_first(definition_->default_variant());
    for (const Variant& seed : definition_->seeds) add_first(seed);
  }

 private:
  struct Row {
    std::vector<std::size_t> places;
    Variant variant;
    std::optional<double> cost;
    search::Observation observation;
    RecordedTable::Detail detail;
  };

  static std::vector<double> times_s(const std::vector<Sample>& samples) {
    std::vector<double> out;
    for (const Sample& sample : samples) out.push_back(sample.per_launch_s());
    return out;
  }

  [[nodiscard]] std::vector<std::size_t> places(const Variant& variant) const {
    std::vector<std::size_t> out;
    if (definition_ == nullptr) return out;
    for (std::size_t i = 0; i < variant.parameters.size(); ++i) {
      const auto& values = definition_->parameters[i].values;
      out.push_back(static_cast<std::size_t>(std::find(values.begin(), values.end(), variant.parameters[i].value) -
                                             values.begin()));
    }
    return out;
  }

  void add_first(const Variant& variant) {
    const auto& variants = out_.table.variants;
    const auto found = std::find(variants.begin() + static_cast<std::ptrdiff_t>(begin_), variants.end(), variant);
    if (found != variants.end()) out_.table.tried_first.push_back(static_cast<std::size_t>(found - variants.begin()));
  }

  RecordedTable& out_;
  const space::TemplateDefinition* definition_;
  std::size_t begin_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<RecordedTable> recorded_tables(const db::Database& database, const KnownTemplates& templates) {
  return recorded_tables(database, templates, db::list_sessions(database));
}

std::vector<RecordedTable> recorded_tables(const db::Database& database, const KnownTemplates& templates,
                                           std::span<const db::SessionRow> sessions) {
  std::vector<RecordedTable> tables;
  for (const auto& [key, searched] : searched(database, sessions)) {
    const db::SessionRow& session = searched.newest;
    const auto problem = db::find_problem(database, session.problem_key);
    const auto device = db::find_device(database, session.device_uuid);
    if (!problem || !device) continue;
    RecordedTable table{database.origin(), *problem, *device, {}, {}};
    table.measured_at = session.finished_at;
    for (const auto& [name, content_hash] : searched.versions) {
      TableMaker maker(table, templates.find(name));
      const db::ResultKey rows{session.device_class,   session.problem_key, name, content_hash, session.recorded,
                               session.conditions_key, session.device_uuid};
      for (const auto& [variant_key, trial] : db::find_trials(database, rows)) maker.add(name, variant_key, trial);
      maker.finish();
    }
    if (table.table.best_s()) tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<bool> in_preset(const RecordedTable& table, const KnownTemplates& templates) {
  std::vector<bool> out;
  std::span<const Variant> left = table.table.variants;
  for (std::size_t i = 0; i < table.templates.size(); ++i) {
    const auto own = left.first(table.table.template_sizes[i]);
    left = left.subspan(own.size());
    const space::TemplateDefinition* const definition = templates.find(table.templates[i]);
    const auto known = definition != nullptr
                           ? value_or_throw(space::in_preset(*definition, own, table.problem, table.device))
                           : std::vector<bool>(own.size(), true);
    out.insert(out.end(), known.begin(), known.end());
  }
  return out;
}

}  // namespace pgtune::tool

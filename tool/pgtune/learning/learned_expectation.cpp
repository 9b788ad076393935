// SPDX-License-Identifier: MIT
#include "tool/pgtune/learning/learned_expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/search/shuffle.hpp"
#include "tuner/session/expected_times.hpp"
#include "tuner/util/host_limits.hpp"
#include "tuner/util/parallel.hpp"

namespace pgtune::tool {
std::string shape_of(const Problem& problem) { return fmt::format("{} b{}", problem.shape(), problem.batch); }

std::string kind_of_times(const Problem& problem) {
  return std::string(problem.operation_name()) + ' ' + std::string(to_string(problem.dtype));
}

std::vector<search::Experience> experiences(const RecordedTable& table, const KnownTemplates& templates,
                                            std::size_t number) {
  std::vector<search::Experience> out;
  if (!table.name.empty()) return out;  // its template is not known, even if the name is
  const search::MeasuredTable& rows = table.table;
  const double best_s = *rows.best_s();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < table.templates.size(); ++i) {
    const std::size_t end = begin + rows.template_sizes[i];
    if (const space::TemplateDefinition* const definition = templates.find(table.templates[i])) {
      search::Experience own{value_or_throw(session::described(*definition, table.problem, table.device,
                                                               std::span(rows.variants).subspan(begin, end - begin))),
                             {},
                             shape_of(table.problem),
                             device_class(table.device).hardware(),
                             definition->name,
                             number,
                             kind_of_times(table.problem)};
      for (std::size_t row = begin; row < end; ++row) {
        const search::Observation& seen = rows.observations[row];
        const bool timed = seen.outcome == OutcomeKind::kOk && seen.time_s > 0;
        own.log_times.push_back(timed ? std::min(search::kMostLog, std::log(seen.time_s / best_s)) : search::kMostLog);
      }
      out.push_back(std::move(own));
    }
    begin = end;
  }
  return out;
}

namespace {

/// Names and values of one variant's features; values of numbers are known by the place of their parameter.
class ForeignFeatures {
 public:
  /// The parameters of `table` that vary.
  explicit ForeignFeatures(const RecordedTable& table) {
    const std::vector<Variant>& variants = table.table.variants;
    for (std::size_t i = 0; i < variants.front().parameters.size(); ++i) {
      std::set<std::string> labels;
      bool numbers = true;
      std::set<ParameterValue> values;
      for (const Variant& variant : variants) {
        const ParameterValue& value = variant.parameters[i].value;
        values.insert(value);
        if (const auto* const label = std::get_if<std::string>(&value)) {
          numbers = false;
          labels.insert(*label);
        }
      }
      if (values.size() < 2) continue;
      const std::string& name = variants.front().parameters[i].name;
      if (numbers) {
        numbers_.push_back(i);
        names_.push_back(name);
      } else {
        for (const std::string& label : labels) labels_.emplace_back(i, label);
      }
    }
    for (const auto& [place, label] : labels_) names_.push_back(variants.front().parameters[place].name + '=' + label);
    if (numbers_.size() > kMostPaired) return;
    for (std::size_t a = 0; a < numbers_.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        names_.push_back(names_[a] + '*' + names_[b]);
        names_.push_back(names_[a] + '/' + names_[b]);
      }
    }
  }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  void add(const Variant& variant, std::vector<float>& out) const {
    std::vector<float> logs;
    for (const std::size_t place : numbers_) {
      const auto* const number = std::get_if<std::int64_t>(&variant.parameters[place].value);
      const double value = number != nullptr ? static_cast<double>(*number) : 0;
      logs.push_back(static_cast<float>(std::copysign(std::log2(1 + std::abs(value)), value)));
    }
    out.insert(out.end(), logs.begin(), logs.end());
    for (const auto& [place, label] : labels_)
      out.push_back(variant.parameters[place].value == ParameterValue(label) ? 1.0F : 0.0F);
    if (numbers_.size() > kMostPaired) return;
    for (std::size_t a = 0; a < logs.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        out.push_back(logs[a] + logs[b]);
        out.push_back(logs[a] - logs[b]);
      }
    }
  }

 private:
  static constexpr std::size_t kMostPaired = 16;
  std::vector<std::size_t> numbers_;  ///< places of parameters
  std::vector<std::pair<std::size_t, std::string>> labels_;
  std::vector<std::string> names_;
};

search::DescribedVariants described_foreign(const RecordedTable& table, std::span<const std::size_t> rows) {
  const ForeignFeatures features(table);
  search::DescribedVariants out{features.names(), {features.names().size(), {}}, {}};
  for (const std::size_t row : rows) features.add(table.table.variants[row], out.features.values);
  out.offsets.assign(rows.size(), 0.0);
  return out;
}

}  // namespace

search::Experience foreign_experience(const RecordedTable& table, std::span<const std::size_t> rows,
                                      std::size_t number) {
  search::Experience out{described_foreign(table, rows), {}, table.device.name, table.device.name, {}, number};
  double best_s = std::numeric_limits<double>::infinity();
  const auto& observations = table.table.observations;
  for (const std::size_t row : rows) {
    if (observations[row].time_s > 0) best_s = std::min(best_s, observations[row].time_s);
  }
  for (const std::size_t row : rows) {
    const double time_s = observations[row].time_s;
    out.log_times.push_back(time_s > 0 ? std::min(search::kMostLog, std::log(time_s / best_s)) : search::kMostLog);
  }
  return out;
}

search::Expectation expectation_from(const std::vector<const RecordedTable*>& known, std::size_t rows,
                                     const RecordedTable& table, std::uint64_t seed) {
  std::vector<search::Experience> experiences;
  for (std::size_t i = 0; i < known.size(); ++i) {
    auto chosen = search::shuffled_indices(known[i]->table.variants.size(), seed + i);
    chosen.resize(std::min(chosen.size(), rows));
    experiences.push_back(foreign_experience(*known[i], chosen, i));
  }
  const search::Predictor predictor = search::PredictorTrainer(experiences).fit_all(seed);
  std::vector<std::size_t> all(table.table.variants.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return {predictor.predict(described_foreign(table, all)), predictor.deviation()};
}

std::optional<LeaveOut> parse_leave_out(std::string_view word) {
  if (word == "problem") return LeaveOut::kProblem;
  if (word == "dtype") return LeaveOut::kDtype;
  if (word == "device") return LeaveOut::kDevice;
  if (word == "template") return LeaveOut::kTemplate;
  return std::nullopt;
}

std::string left_out_key(const RecordedTable& table, LeaveOut leave_out) {
  switch (leave_out) {
    case LeaveOut::kProblem:
      return shape_of(table.problem);
    case LeaveOut::kDtype:
      return std::string(to_string(table.problem.dtype));
    case LeaveOut::kTemplate:
      return fmt::format("{}", fmt::join(table.templates, " "));
    case LeaveOut::kDevice:
      break;
  }
  return table.device.name;
}

namespace {

bool are_alike(const RecordedTable& a, const RecordedTable& b, LeaveOut leave_out) {
  if (leave_out != LeaveOut::kTemplate) return left_out_key(a, leave_out) == left_out_key(b, leave_out);
  return std::find_first_of(a.templates.begin(), a.templates.end(), b.templates.begin(), b.templates.end()) !=
         a.templates.end();
}

}  // namespace

std::vector<Taught> cross_expectations(const std::vector<RecordedTable>& tables,
                                       const std::vector<RecordedTable>& teachers, const KnownTemplates& templates,
                                       LeaveOut leave_out) {
  std::vector<search::Experience> known;
  std::vector<std::size_t> first(1, 0);   // of each table's experiences, the teachers' behind them
  std::vector<const RecordedTable*> all;  // in that order
  for (const std::vector<RecordedTable>* const some : {&tables, &teachers}) {
    for (const RecordedTable& table : *some) {
      for (search::Experience& own : experiences(table, templates, all.size())) known.push_back(std::move(own));
      first.push_back(known.size());
      all.push_back(&table);
    }
  }
  const search::PredictorTrainer trainer(known);
  std::map<std::string, std::vector<std::size_t>> by_key;  // what the same model is asked of
  for (std::size_t i = 0; i < tables.size(); ++i) by_key[left_out_key(tables[i], leave_out)].push_back(i);
  std::vector<std::vector<std::size_t>> folds;
  for (auto& [key, asked] : by_key) folds.push_back(std::move(asked));
  std::vector<Taught> out(tables.size());
  in_parallel(folds.size(), usable_cores(), [&](std::size_t fold) {
    std::vector<bool> others(known.size(), false);
    std::vector<const RecordedTable*> taught_by;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (first[i] == first[i + 1] || are_alike(*all[i], tables[folds[fold].front()], leave_out)) continue;
      for (std::size_t own = first[i]; own < first[i + 1]; ++own) others[own] = true;
      taught_by.push_back(all[i]);
    }
    if (taught_by.empty()) return;
    const search::Predictor predictor = trainer.fit(others, kModelSeed);
    for (const std::size_t i : folds[fold]) {
      if (first[i + 1] - first[i] != tables[i].templates.size()) continue;
      search::Expectation expected{{}, predictor.deviation()};
      for (std::size_t own = first[i]; own < first[i + 1]; ++own) {
        const auto log_times = predictor.predict(known[own].variants);
        expected.log_times.insert(expected.log_times.end(), log_times.begin(), log_times.end());
        expected.of_templates = expected.of_templates && predictor.has_seen_template(known[own].template_name);
      }
      out[i] = {lesson_of(taught_by), std::move(expected)};
    }
  });
  return out;
}

std::vector<const RecordedTable*> foreign_teachers(const std::vector<RecordedTable>& tables, std::size_t place) {
  std::vector<const RecordedTable*> out;
  for (const RecordedTable& table : tables) {
    if (!table.name.empty() && table.name == tables[place].name && table.device.name != tables[place].device.name)
      out.push_back(&table);
  }
  return out;
}

Lesson lesson_of(const std::vector<const RecordedTable*>& teachers) {
  std::set<std::string> devices;
  for (const RecordedTable* const teacher : teachers) devices.insert(teacher->device.name);
  return {teachers.size(), devices.size()};
}

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
#include "tool/pgtune/simulate/learned_expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <thread>
#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/session/expected_times.hpp"

namespace pgtune::tool {
std::string shape_of(const Problem& problem) { return fmt::format("{} b{}", problem.shape(), problem.batch); }

std::vector<search::Experience> experiences(const RecordedTable& table, const Catalogue& catalogue,
                                            std::size_t number) {
  std::vector<search::Experience> out;
  if (!table.name.empty()) return out;  // its template is none of the catalogue, whatever it is called
  const auto names = catalogue.names();
  const search::MeasuredTable& rows = table.table;
  const double best_s = *rows.best_s();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < table.templates.size(); ++i) {
    const std::size_t end = begin + rows.template_sizes[i];
    if (std::find(names.begin(), names.end(), table.templates[i]) != names.end()) {
      const space::TemplateDefinition definition = catalogue.load(table.templates[i]);
      search::Experience own{value_or_throw(session::described(definition, table.problem, table.device,
                                                               std::span(rows.variants).subspan(begin, end - begin))),
                             {},
                             shape_of(table.problem),
                             device_class(table.device).hardware(),
                             number};
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

std::optional<LeaveOut> parse_leave_out(std::string_view word) {
  if (word == "problem") return LeaveOut::kProblem;
  if (word == "dtype") return LeaveOut::kDtype;
  if (word == "device") return LeaveOut::kDevice;
  return std::nullopt;
}

std::string left_out_key(const RecordedTable& table, LeaveOut leave_out) {
  switch (leave_out) {
    case LeaveOut::kProblem:
      return shape_of(table.problem);
    case LeaveOut::kDtype:
      return std::string(to_string(table.problem.dtype));
    case LeaveOut::kDevice:
      break;
  }
  return table.device.name;
}

std::vector<std::optional<search::Expectation>> cross_expectations(const std::vector<RecordedTable>& tables,
                                                                   const Catalogue& catalogue, LeaveOut leave_out) {
  std::vector<search::Experience> known;
  std::vector<std::size_t> first(1, 0);                   // of each table's experiences
  std::map<std::string, std::vector<std::size_t>> alike;  // tables by what is left out
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (search::Experience& own : experiences(tables[i], catalogue, i)) known.push_back(std::move(own));
    first.push_back(known.size());
    alike[left_out_key(tables[i], leave_out)].push_back(i);
  }
  const search::PredictorTrainer trainer(known);
  std::vector<std::vector<std::size_t>> folds;
  for (auto& [key, members] : alike) folds.push_back(std::move(members));
  std::vector<std::optional<search::Expectation>> out(tables.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t fold = next++; fold < folds.size(); fold = next++) {
      std::vector<bool> others(known.size(), true);
      for (const std::size_t i : folds[fold]) {
        for (std::size_t own = first[i]; own < first[i + 1]; ++own) others[own] = false;
      }
      const search::Predictor predictor = trainer.fit(others, kModelSeed);
      for (const std::size_t i : folds[fold]) {
        if (first[i + 1] - first[i] != tables[i].templates.size()) continue;
        search::Expectation expected{{}, predictor.deviation()};
        for (std::size_t own = first[i]; own < first[i + 1]; ++own) {
          const auto log_times = predictor.predict(known[own].variants);
          expected.log_times.insert(expected.log_times.end(), log_times.begin(), log_times.end());
        }
        out[i] = std::move(expected);
      }
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  threads.clear();  // joins
  return out;
}

}  // namespace pgtune::tool

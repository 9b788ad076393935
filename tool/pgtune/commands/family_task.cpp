// SPDX-License-Identifier: MIT
#include "tool/pgtune/commands/family_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "db/database.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tool/pgtune/report/family_text.hpp"
#include "tuner/device/compile_pool.hpp"

namespace pgtune::tool {
namespace {

const session::FamilyRequest& request_of(const SearchTask& task, const Problem& problem) {
  return *std::find_if(task.families.begin(), task.families.end(),
                       [&](const session::FamilyRequest& request) { return request.problem == problem; });
}

struct PlannedFamily {
  session::FamilyRequest request;
  double weight;
  std::optional<session::ExpectedFamily> expected{};  ///< nothing if the database has the family
};

/// Probes of a family that a total has time for, at least.
constexpr std::size_t kFewestProbes = 2;

/// Of all families. `gpus` share the compile workers.
std::vector<PlannedFamily> plans_of(const SearchTask& task, const MeasuringOptions& options, const DeviceInfo& device,
                                    std::size_t gpus) {
  std::optional<db::Database> database;
  std::optional<DatabaseStore> store;
  if (!options.clock.request && !db::is_absent(options.database))  // a clock to lock is known once it is locked
    store.emplace(database.emplace(db::Database::open(options.database, db::OpenMode::kReadOnly)));
  const std::size_t jobs =
      options.compile.jobs > 0 ? options.compile.jobs : device::default_compile_jobs(options.compile.memory_bytes);
  std::vector<PlannedFamily> out;
  for (std::size_t i = 0; i < task.families.size(); ++i) {
    session::FamilyRequest request = task.families[i];
    request.probes = session::possible_probes(request);
    const space::TemplateSet& templates = task.templates_of(request.problem);
    session::FamilyRequest enough = request;
    if (task.total_s) enough.probes = std::min(request.probes, kFewestProbes);
    if (store && session::stored_family(*store, enough, templates, device, options.session)) {
      out.push_back({enough, task.family_weights[i]});
      continue;
    }
    out.push_back({request, task.family_weights[i],
                   session::expected_family(request, options.session, std::max<std::size_t>(jobs / gpus, 1))});
  }
  return out;
}

/// Gives each that is not stored its part of the task's total, takes it off there, and leaves out those for which
/// nothing is left. Each is for the GPU that is free first.
std::vector<PlannedFamily> fitted_into_total(SearchTask& task, std::vector<PlannedFamily> families, std::size_t gpus,
                                             Terminal& terminal) {
  std::vector<double> left_s(gpus, *task.total_s);  // of each GPU
  double weights = 0;
  for (const double weight : task.problem_weights) weights += weight;
  for (const PlannedFamily& family : families) weights += family.expected ? family.weight : 0;
  std::stable_sort(families.begin(), families.end(),
                   [](const PlannedFamily& a, const PlannedFamily& b) { return a.weight > b.weight; });
  std::vector<PlannedFamily> out;
  for (PlannedFamily& family : families) {
    if (!family.expected) {
      out.push_back(std::move(family));
      continue;
    }
    auto& [kernels_s, probes_s] = *family.expected;
    std::size_t& probes = family.request.probes;
    double& own_s = *std::max_element(left_s.begin(), left_s.end());
    const std::size_t fewest = std::min(kFewestProbes, probes);
    const double probe_s = probes > 0 ? probes_s / static_cast<double>(probes) : 0;
    const double all_left_s = std::accumulate(left_s.begin(), left_s.end(), 0.0);
    const double share_s = std::min(own_s, all_left_s * family.weight / weights);
    weights -= family.weight;
    for (; probes > fewest && kernels_s + probes_s > share_s; --probes) probes_s -= probe_s;
    const double all_s = kernels_s + probes_s;
    if (all_s > own_s) {
      terminal.note(fmt::format("{}: left out, as its {} do not fit in the {} left.", family.request.title(),
                                duration_text(all_s), duration_text(own_s)));
      continue;
    }
    own_s -= all_s;
    out.push_back(std::move(family));
  }
  *task.total_s = *std::min_element(left_s.begin(), left_s.end());  // shapes begin when all ranges have ended
  return out;
}

ExitCode plan(SearchTask& task, const MeasuringOptions& options, Context& context, ResultDocument& results) {
  const std::vector<DeviceChoice> choices = choose_devices_to_plan(context, options.device);
  announce(context.terminal(), {.choice = choices.front(), .session = options.session, .database = options.database});
  std::vector<PlannedFamily> families = plans_of(task, options, choices.front().info, choices.size());
  if (task.total_s) families = fitted_into_total(task, std::move(families), choices.size(), context.terminal());
  for (const PlannedFamily& one : families)
    results.add([&] { return family_plan_text(one.request, one.expected); },
                [&] { return family_plan_json(one.request, one.expected); });
  return ExitCode::kDone;
}

/// Makes the task's families those that fit in its total. Those that are stored stay as they are. Returns how long each
/// is expected to take.
std::vector<double> fit_families(SearchTask& task, const MeasuringOptions& options,
                                 const std::vector<DeviceChoice>& choices, Terminal& terminal) {
  std::vector<PlannedFamily> families = plans_of(task, options, choices.front().info, choices.size());
  if (task.total_s) families = fitted_into_total(task, std::move(families), choices.size(), terminal);
  task.families.clear();
  std::vector<double> expected_s;
  session::ExpectedFamily all;
  std::size_t probes = 0;
  for (const PlannedFamily& family : families) {
    const auto [kernels_s, probes_s] = family.expected.value_or(session::ExpectedFamily());
    task.families.push_back(family.request);
    expected_s.push_back(kernels_s + probes_s);
    all.kernels_s += kernels_s / static_cast<double>(choices.size());
    all.probes_s += probes_s / static_cast<double>(choices.size());
    if (family.expected) probes += family.request.probes;
  }
  if (all.kernels_s > 0) terminal.note(fact_note("time", expected_text(all, probes)));
  return expected_s;
}

ExitCode show(const session::FamilyResult& result, const DeviceChoice& device, const std::string& database_option,
              Terminal& terminal, ResultDocument& results, std::optional<ExitCode> signal) {
  if (result.family)
    results.add(
        [&] {
          return family_text(*result.family, device.info) + fmt::format("details   pgtune show {}{}\n",
                                                                        problem_options_text(result.family->problem),
                                                                        database_option);
        },
        [&] { return family_json(*result.family, device.info); });
  if (result.from_store) terminal.note("Answered from the database; --force measures again.");
  if (result.interrupted) {
    terminal.note("Stopped early. What was measured is stored: the same command goes on from here.");
    return signal.value_or(ExitCode::kInterrupted);
  }
  return ExitCode::kDone;
}

}  // namespace

ExitCode run_families(SearchTask& task, Context& context, ResultDocument& results) {
  MeasuringOptions options = task.measuring;
  options.session.budget = task.probe_budget;
  if (task.dry_run) return plan(task, options, context, results);
  for (std::size_t i = 1; i < task.families.size(); ++i) {
    if (&request_of(task, task.families[i].problem) != &task.families[i])
      throw CommandError(ErrorKind::kUsage, fmt::format("{} has two ranges of M that end alike. Give one.",
                                                        task.families[i].problem.title()));
  }
  const auto start = std::chrono::steady_clock::now();
  const std::optional<double> total_s = task.total_s;
  const std::vector<DeviceChoice> choices = choose_devices(context, options.device);
  Terminal& terminal = context.terminal();
  if (!choices.front().is_gpu() && !task.problems.empty()) {  // which may have recorded answers
    for (const session::FamilyRequest& request : task.families) {
      terminal.error(request.title() + ": a range of M needs a GPU");
      results.add_error(request.problem, "a range of M needs a GPU");
    }
    return ExitCode::kEnvironment;
  }
  require_gpu(choices.front(), "a search over a range of M");
  const std::vector<double> expected_s = fit_families(task, options, choices, terminal);
  if (task.families.empty()) return ExitCode::kDone;
  std::vector<Problem> problems;
  for (const session::FamilyRequest& request : task.families) problems.push_back(request.problem);
  const auto search_on = [&](MeasuringRun& run, const Problem& problem) -> Shown {
    auto result = run.search_family(request_of(task, problem), task.templates_of(problem));
    return [&terminal, &results, &options, device = run.choice(), signal = run.signals().exit_code(),
            result = std::move(result)] {
      return show(result, device, options.database_option, terminal, results, signal);
    };
  };
  const auto expected_of = [&](const Problem& problem) {
    return expected_s[static_cast<std::size_t>(&request_of(task, problem) - task.families.data())];
  };
  const ExitCode code = measure(context, options, choices, problems, results,
                                {.measure = search_on,
                                 .title = [&](const Problem& problem) { return request_of(task, problem).title(); },
                                 .expected_s = expected_of});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (total_s) task.total_s = std::max(0.0, *total_s - took.count());  // whatever was expected
  return code;
}

}  // namespace pgtune::tool

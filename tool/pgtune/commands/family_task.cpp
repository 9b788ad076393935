// SPDX-License-Identifier: MIT
#include "tool/pgtune/commands/family_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
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
  session::FamilyPlan plan;
  session::ExpectedFamily expected;
};

/// `gpus` share the compile workers.
std::vector<PlannedFamily> plans_of(const SearchTask& task, const MeasuringOptions& options, const DeviceInfo& device,
                                    std::size_t gpus) {
  const std::size_t jobs =
      options.compile.jobs > 0 ? options.compile.jobs : device::default_compile_jobs(options.compile.memory_bytes);
  std::vector<PlannedFamily> out;
  for (const session::FamilyRequest& request : task.families) {
    auto plan =
        value_or_throw(session::plan_family(request, task.templates_of(request.problem), device, options.session));
    const auto expected =
        session::expected_family(request, plan, options.session, std::max<std::size_t>(jobs / gpus, 1));
    out.push_back({request, std::move(plan), expected});
  }
  return out;
}

/// Gives each its part of the task's total, takes it off there, and removes those for which nothing is left.
void fit_into_total(SearchTask& task, std::vector<PlannedFamily>& families, Terminal& terminal) {
  constexpr std::size_t kFewestProbes = 2;
  double weights = 0;
  for (const double weight : task.problem_weights) weights += weight;
  for (const double weight : task.family_weights) weights += weight;
  std::vector<std::size_t> heaviest_first(families.size());
  std::iota(heaviest_first.begin(), heaviest_first.end(), std::size_t{0});
  std::stable_sort(heaviest_first.begin(), heaviest_first.end(),
                   [&](std::size_t a, std::size_t b) { return task.family_weights[a] > task.family_weights[b]; });
  std::vector<PlannedFamily> fitting;
  for (const std::size_t i : heaviest_first) {
    PlannedFamily& family = families[i];
    const std::size_t most = family.request.probes;
    const double probe_s = most > 0 ? family.expected.probes_s / static_cast<double>(most) : 0;
    const double share_s = *task.total_s * task.family_weights[i] / weights;
    weights -= task.family_weights[i];
    std::size_t probes = most;
    while (probes > std::min(kFewestProbes, most) &&
           family.expected.kernels_s + probe_s * static_cast<double>(probes) > share_s)
      --probes;
    family.request.probes = probes;
    family.expected.probes_s = probe_s * static_cast<double>(probes);
    const double all_s = family.expected.kernels_s + family.expected.probes_s;
    if (all_s > *task.total_s) {
      terminal.note(fmt::format("{}..{}: left out, as its {} do not fit in the {} left.", family.request.first_m,
                                family.request.problem.title(), duration_text(all_s), duration_text(*task.total_s)));
      continue;
    }
    *task.total_s -= all_s;
    fitting.push_back(std::move(family));
  }
  families = std::move(fitting);
}

ExitCode plan(SearchTask& task, const MeasuringOptions& options, Context& context, ResultDocument& results) {
  const DeviceChoice choice = choose_device_to_plan(context, options.device);
  announce(context.terminal(), {.choice = choice, .session = options.session, .database = options.database});
  std::vector<PlannedFamily> families = plans_of(task, options, choice.info, 1);
  if (task.total_s) fit_into_total(task, families, context.terminal());
  for (const PlannedFamily& one : families)
    results.add([&] { return family_plan_text(one.request, one.plan, one.expected); },
                [&] { return family_plan_json(one.request, one.plan, one.expected); });
  return ExitCode::kDone;
}

ExitCode show(const session::FamilyResult& result, const DeviceChoice& device, Terminal& terminal,
              ResultDocument& results, std::optional<ExitCode> signal) {
  if (result.family)
    results.add([&] { return family_text(*result.family, device.info); },
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
  const std::vector<DeviceChoice> choices = choose_devices(context, options.device);
  require_gpu(choices.front(), "a search over a range of M");
  Terminal& terminal = context.terminal();
  std::vector<PlannedFamily> families = plans_of(task, options, choices.front().info, choices.size());
  if (task.total_s) fit_into_total(task, families, terminal);
  if (families.empty()) return ExitCode::kDone;
  task.families.clear();
  std::vector<Problem> problems;
  session::ExpectedFamily all;
  std::size_t probes = 0;
  for (const auto& [request, plan, expected] : families) {
    task.families.push_back(request);
    problems.push_back(request.problem);
    all.kernels_s += expected.kernels_s / static_cast<double>(choices.size());
    all.probes_s += expected.probes_s / static_cast<double>(choices.size());
    probes += request.probes;
  }
  terminal.note(fact_note("time", expected_text(all, probes)));
  const auto search_on = [&](MeasuringRun& run, const Problem& problem) -> Shown {
    auto result = run.search_family(request_of(task, problem), task.templates_of(problem));
    return [&terminal, &results, device = run.choice(), signal = run.signals().exit_code(),
            result = std::move(result)] { return show(result, device, terminal, results, signal); };
  };
  return measure(context, options, choices, problems, results, search_on);
}

}  // namespace pgtune::tool

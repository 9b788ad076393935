// SPDX-License-Identifier: MIT
#include "tool/pgtune/commands/family_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/family_text.hpp"
#include "tuner/device/compile_pool.hpp"

namespace pgtune::tool {
namespace {

const session::FamilyRequest& request_of(const SearchTask& task, const Problem& problem) {
  return *std::find_if(task.families.begin(), task.families.end(),
                       [&](const session::FamilyRequest& request) { return request.problem == problem; });
}

session::ExpectedFamily expected_of(const SearchTask& task, const session::FamilyRequest& request,
                                    const session::FamilyPlan& plan, std::size_t gpus) {
  const MeasuringOptions& options = task.measuring;
  const std::size_t jobs =
      options.compile.jobs > 0 ? options.compile.jobs : device::default_compile_jobs(options.compile.memory_bytes);
  return session::expected_family(request, plan, options.session, std::max<std::size_t>(jobs / gpus, 1));
}

ExitCode plan(const SearchTask& task, Context& context, ResultDocument& results) {
  const DeviceChoice choice = choose_device_to_plan(context, task.measuring.device);
  announce(context.terminal(),
           {.choice = choice, .session = task.measuring.session, .database = task.measuring.database});
  for (const session::FamilyRequest& request : task.families) {
    const auto plan = value_or_throw(
        session::plan_family(request, task.templates_of(request.problem), choice.info, task.measuring.session));
    const auto expected = expected_of(task, request, plan, 1);
    results.add([&] { return family_plan_text(request, plan, expected); },
                [&] { return family_plan_json(request, plan, expected); });
  }
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

ExitCode run_families(const SearchTask& task, Context& context, ResultDocument& results) {
  if (task.dry_run) return plan(task, context, results);
  for (std::size_t i = 1; i < task.families.size(); ++i) {
    if (&request_of(task, task.families[i].problem) != &task.families[i])
      throw CommandError(ErrorKind::kUsage, fmt::format("{} has two ranges of M that end alike. Give one.",
                                                        task.families[i].problem.title()));
  }
  const std::vector<DeviceChoice> choices = choose_devices(context, task.measuring.device);
  require_gpu(choices.front(), "a search over a range of M");
  Terminal& terminal = context.terminal();
  std::vector<Problem> problems;
  session::ExpectedFamily all;
  std::size_t probes = 0;
  for (const session::FamilyRequest& request : task.families) {
    problems.push_back(request.problem);
    const auto plan = value_or_throw(session::plan_family(request, task.templates_of(request.problem),
                                                          choices.front().info, task.measuring.session));
    const auto expected = expected_of(task, request, plan, choices.size());
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
  return measure(context, task.measuring, choices, problems, results, search_on);
}

}  // namespace pgtune::tool

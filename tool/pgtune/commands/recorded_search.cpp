// SPDX-License-Identifier: MIT
#include "tool/pgtune/commands/recorded_search.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "db/upkeep/merge.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/learning/guess.hpp"
#include "tool/pgtune/learning/trained_model.hpp"
#include "tool/pgtune/report/recorded_answer.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tool/pgtune/report/result_text.hpp"
#include "tuner/session/answer/answered.hpp"

namespace pgtune::tool {
namespace {

SearchOutcome outcome_of(RecordedAnswer recorded, const SearchTask& task, DeviceChoice device) {
  StoredResult& result = recorded.result;
  result.answer.finished_at = result.row.finished_at;
  result.answer.board = result.row.device_uuid;
  device.info = result.device;
  device.description =
      fmt::format("{}, {}, driver {}", result.device.name, result.device.architecture, result.device.driver_version);
  SearchOutcome outcome{result.problem,
                        std::move(recorded.templates),
                        std::move(device),
                        result.conditions,
                        session::result_from_store(std::move(result.answer)),
                        task.measuring.database};
  outcome.result.from_store = false;
  outcome.recorded_by = std::move(recorded.pgtune_version);
  outcome.other_versions = std::move(result.other_versions);
  if (task.counters) outcome.counters = CounterReport{.missing = "they are read on a GPU"};
  return outcome;
}

std::string guess_text(const ModelSource& model, const space::TemplateSet& templates, const Problem& problem,
                       const DeviceInfo& device) {
  const auto learned = model();
  const auto guess = learned ? guess_variant(*learned, templates, problem, device) : std::nullopt;
  return guess ? fmt::format(" 'pgtune guess' takes {} {} on {}.", guess->variant.template_name, guess->variant.key(),
                             device.name)
               : "";
}

}  // namespace

ExitCode print_recorded(Context& context, const SearchTask& task, const DeviceChoice& choice, ResultDocument& results) {
  Terminal& terminal = context.terminal();
  const MeasuringOptions& options = task.measuring;
  options.clock.refuse_without_gpu();
  terminal.note(choice.no_gpu.empty() ? "Recorded answers: nothing is run here."
                                      : "No GPU to search on: recorded answers, nothing is run here.");
  if (!choice.no_gpu.empty()) terminal.note(fact_note("cause", choice.no_gpu));
  terminal.note("database  " + options.database);
  db::Database database = db::Database::open(options.database, db::OpenMode::kReadWriteCreate);
  OwnTemplates templates;
  for (const auto& [kind, set] : task.templates) templates.push_back(set);
  const ModelSource model = trained_model(context, options.database, std::move(templates));
  ExitCode code = ExitCode::kDone;
  for (const Problem& problem : task.problems) {
    const space::TemplateSet& wanted = task.templates_of(problem);
    auto recorded =
        recorded_answer(*choice.recordings, wanted, problem, options.session.conditions, options.session.objective);
    if (recorded) {
      db::store_recorded(*recorded->recording, recorded->result.row.session, database);
      const SearchOutcome outcome = outcome_of(std::move(*recorded), task, choice);
      results.add([&] { return result_text(outcome, terminal); }, [&] { return result_json(outcome); });
      continue;
    }
    std::string missing = unrecorded_text(*choice.recordings, problem);
    if (!choice.no_gpu.empty()) missing += guess_text(model, wanted, problem, choice.info);
    missing += " Search on a GPU.";
    if (task.problems.size() == 1) throw CommandError(ErrorKind::kEnvironment, missing);
    terminal.error(missing);
    results.add_error(problem, missing);
    code = ExitCode::kEnvironment;
  }
  return code;
}

}  // namespace pgtune::tool

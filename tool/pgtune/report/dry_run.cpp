// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tuner/model/json.hpp"
#include "tuner/session/answer/answered.hpp"
#include "tuner/session/pipeline/quarantine.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {

DryRun dry_run(const Problem& problem, const space::TemplateSet& templates, const DeviceChoice& device,
               const session::SessionOptions& options, session::Store* store) {
  DryRun run(problem, templates, device, options.conditions);
  const space::Enumeration enumeration = value_or_throw(space::enumerate(templates, problem, device.info));
  run.space = enumeration.space;
  run.after_constraints = enumeration.after_constraints;
  run.legal = enumeration.legal;
  run.valid = static_cast<std::int64_t>(enumeration.variants.size());
  if (store != nullptr) {
    const session::StoreKey key{problem, templates, device.info, options.conditions};
    const auto trials = session::resumable(store->trials(key), options.retry_failed);
    for (const Variant& variant : enumeration.variants) run.known += trials.contains(variant.id()) ? 1 : 0;
    if (const auto answer = session::answered_already(*store, key, options)) {
      run.answered_at = answer->finished_at;
      run.answered_by = answer->board;
    }
  }
  run.to_build = options.force ? run.valid : run.valid - run.known;
  if (options.budget.trials) run.to_build = std::min(run.to_build, *options.budget.trials);
  return run;
}

std::string dry_run_text(const DryRun& run) {
  std::string out = text_lines(fmt::format("{} with {}", run.problem.title(), run.templates.title()));
  out += fmt::format("  {:>12}  points in the space\n", count_text(run.space));
  out += fmt::format("  {:>12}  after the template's rules\n", count_text(run.after_constraints));
  out += fmt::format("  {:>12}  valid for this problem on {}\n", count_text(run.legal), run.device.info.name);
  if (run.valid != run.legal)
    out += fmt::format("  {:>12}  of them in the preset; --grid full takes all\n", count_text(run.valid));
  out += fmt::format("  {:>12}  of them known from earlier searches\n", count_text(run.known));
  out += fmt::format("  {:>12}  to build and measure\n", count_text(run.to_build));
  if (!run.answered_at.empty() && run.answered_by == run.device.info.uuid)
    out += fmt::format("  Answered in the database since {}: only --force measures again.\n", run.answered_at);
  if (!run.answered_at.empty() && run.answered_by != run.device.info.uuid)
    out += fmt::format(
        "  Answered in the database since {} by another GPU of this class:\n"
        "  only --this-board or --force measures here.\n",
        run.answered_at);
  return out;
}

nlohmann::json dry_run_json(const DryRun& run) {
  return {{"schema", kJsonSchema},
          {"dry_run", true},
          {"problem", run.problem},
          {"template", run.templates.id().name},
          {"device", run.device.info},
          {"source", source_word(run.device)},
          {"conditions", conditions_json(run.conditions)},
          {"counts",
           {{"space", run.space},
            {"after_constraints", run.after_constraints},
            {"valid", run.legal},
            {"searched", run.valid},
            {"known", run.known},
            {"to_build", run.to_build}}},
          {"answered_at", run.answered_at.empty() ? nlohmann::json(nullptr) : nlohmann::json(run.answered_at)},
          {"answered_by", run.answered_by.empty() ? nlohmann::json(nullptr) : nlohmann::json(run.answered_by)}};
}

}  // namespace pgtune::tool

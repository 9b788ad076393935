// SPDX-License-Identifier: MIT
#include "tuner/session/search_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/session/answer/answered.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/quarantine.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/session/progress_reporter.hpp"
#include "tuner/session/stages.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::session {
namespace {

Result<void> check_memory(const Problem& problem, const DeviceInfo& device) {
  constexpr double kGibibyte = 1024.0 * 1024 * 1024;
  if (problem.operand_bytes() <= device.memory_bytes) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{} needs {:.1f} GiB for its operands, {} has {:.1f} GiB: choose a smaller shape or batch",
                          problem.title(), static_cast<double>(problem.operand_bytes()) / kGibibyte, device.name,
                          static_cast<double>(device.memory_bytes) / kGibibyte));
}

Error empty_space(const Context& context, const space::Enumeration& enumeration) {
  auto removals = enumeration.removals;
  std::stable_sort(removals.begin(), removals.end(),
                   [](const auto& a, const auto& b) { return a.removed > b.removed; });
  const bool several = context.templates.definitions().size() > 1;
  std::string why;
  for (const space::Removal& removal : removals) {
    if (removal.removed == 0) break;
    why += fmt::format("\n  {} removed{}: {} ({})", removal.removed, several ? " from " + removal.template_name : "",
                       removal.reason, removal.rule);
  }
  return {ErrorKind::kUsage,
          fmt::format("no variant of {} is legal for {} on {}: all {} points of its space are ruled out; widen the "
                      "parameters or use another template{}",
                      context.templates.title(), context.problem.title(), context.device.info().name, enumeration.space,
                      why),
          {}};
}

/// Precondition: the ranking is there.
StoredAnswer answer_from(const Context& context, Measured measured, const SearchResult& result) {
  StoredAnswer answer;
  answer.best = std::move(measured.ranking->best);
  answer.ranking = std::move(measured.ranking->ranked);
  answer.baseline = result.baseline;
  answer.counts = result.counts;
  answer.complete = measured.exhausted && !measured.interrupted && !measured.gave_up;
  answer.from_final = measured.from_final;
  answer.finished_at = context.clock.utc_iso8601();
  answer.objective = context.options.objective;
  answer.floor = measured.floor;
  answer.stages = measured.times;
  answer.raced = measured.raced;
  answer.voided_rounds = measured.voided_rounds;
  answer.baseline_energy = std::move(measured.baseline_energy);
  answer.idle_power_w = measured.idle_power_w;
  answer.notes = std::move(measured.notes);
  return answer;
}

Result<SearchResult> search(const Context& context, const StoreKey& key, const ProgressCallback& callback) {
  auto enumeration = space::enumerate(context.templates, context.problem, context.device.info());
  if (!enumeration) return tl::unexpected(std::move(enumeration.error()));
  if (enumeration->variants.empty()) return tl::unexpected(empty_space(context, *enumeration));

  ProgressReporter progress(context, callback);
  SearchState state(std::move(*enumeration));
  if (!context.options.force) state.resume(resumable(context.store.trials(key), context.options.retry_failed));
  context.store.begin(key, SessionKind::kSearch, context.options.seed, context.options.command_line);
  auto baseline = context.device.prepare({context.problem, context.options.conditions});
  if (!baseline) return fail(std::move(baseline.error()), "preparing " + context.problem.title());
  context.store.save_baseline(*baseline);
  if (const auto best = static_cast<std::size_t>(baseline->best); best < baseline->algorithms.size()) {
    progress.baseline(baseline->algorithms[best].time_s);
  }

  auto measured = run_stages(context, state, *baseline, progress);
  if (!measured) return fail(std::move(measured.error()), "searching " + context.problem.title());

  SearchResult result;
  result.counts = state.counts();
  result.baseline = std::move(*baseline);
  result.interrupted = measured->interrupted;
  result.budget_reached = measured->budget_reached;
  result.gave_up = measured->gave_up;
  result.failure_examples = state.failure_examples();
  if (measured->ranking) result.answer = answer_from(context, std::move(*measured), result);
  context.store.finish(result.answer);
  progress.done();
  result.elapsed_s = context.elapsed_s();
  return result;
}

}  // namespace

Result<SearchResult> run_search(const Problem& problem, const space::TemplateSet& templates, device::Device& device,
                                Store& store, const Options& options, const std::atomic<bool>& stop,
                                const ProgressCallback& progress, const Clock& clock) {
  Context context{problem, templates, device, store, options, stop, clock, clock.now_s()};
  if (auto fits = check_memory(problem, device.info()); !fits) return tl::unexpected(std::move(fits.error()));
  const StoreKey key{problem, templates, device.info(), device.source(), options.conditions};
  if (auto answer = answered_already(store, key, options)) {
    SearchResult result = result_from_store(std::move(*answer));
    result.elapsed_s = context.elapsed_s();
    return result;
  }
  Quarantine quarantine = load_quarantine(context);
  context.quarantine = &quarantine;
  return search(context, key, progress);
}

}  // namespace pgtune::session

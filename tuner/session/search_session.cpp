// SPDX-License-Identifier: MIT
#include "tuner/session/search_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/search/shuffled_strategy.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/final.hpp"
#include "tuner/session/launchable.hpp"
#include "tuner/session/pipeline.hpp"
#include "tuner/session/progress_reporter.hpp"
#include "tuner/session/ranking.hpp"
#include "tuner/session/search_state.hpp"
#include "tuner/session/time_estimate.hpp"
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
  std::string why;
  for (const space::Removal& removal : removals) {
    if (removal.removed == 0) break;
    why += fmt::format("\n  {} removed: {} ({})", removal.removed, removal.reason, removal.rule);
  }
  return {
      ErrorKind::kUsage,
      fmt::format("no variant of {} is legal for {} on {}: all {} points of its space are ruled out; widen the "
                  "parameters or use another template{}",
                  context.definition.name, context.problem.title(), context.device.info().name, enumeration.space, why),
      {}};
}

/// A trial budget is met by a session with a final over at least that many variants.
bool satisfies(const StoredAnswer& answer, const Budget& budget) {
  if (answer.complete) return true;
  if (!budget.trials || !answer.from_final) return false;
  std::int64_t tried = answer.counts.measured;
  for (const auto& [kind, count] : answer.counts.failed) tried += count;
  return tried >= std::min(*budget.trials, answer.counts.valid);
}

/// Where new trials must end so that the final fits in a time budget; it gets at most half.
std::optional<double> search_deadline_s(const Context& context) {
  const auto& seconds = context.options.budget.seconds;
  if (!seconds) return std::nullopt;
  return context.start_s + *seconds - std::min(expected_final_s(context.options), *seconds / 2);
}

std::vector<MeasuredVariant> screened(const Context& context, const SearchState& state) {
  std::vector<MeasuredVariant> out;
  for (const std::size_t index : state.ranked()) {
    if (out.size() == static_cast<std::size_t>(std::max(context.options.finalists, 1))) break;
    const StoredTrial& trial = state.trial(index);
    out.push_back({state.variant(index), trial.build, 0, trial.report.blocks});
  }
  return out;
}

struct Measured {
  std::optional<Ranking> ranking;
  bool exhausted = false;  ///< every proposal was tried
  bool from_final = false;
  bool interrupted = false;
  bool budget_reached = false;
};

/// Search and final, over what the state already knows.
Result<Measured> measure(const Context& context, SearchState& state, const ReferenceReport& reference,
                         ProgressReporter& progress) {
  search::ShuffledStrategy strategy(state.size(), state.find(context.definition.default_variant().key()),
                                    context.options.seed);
  Pipeline pipeline(context, state, strategy, progress, search_deadline_s(context));
  const auto end = pipeline.run();
  if (!end) return tl::unexpected(end.error());

  Measured out;
  out.exhausted = *end == Pipeline::End::kExhausted;
  out.budget_reached = *end == Pipeline::End::kBudget;
  out.interrupted = *end == Pipeline::End::kInterrupted;
  if (!out.interrupted) {
    auto final = Final(context, state, reference, progress).run();
    if (!final) return tl::unexpected(std::move(final.error()));
    out.interrupted = !final->complete;
    if (!final->variants.empty()) {
      out.from_final = final->complete;
      out.ranking =
          rank_final(context.problem, final->variants, final->references, reference.first, context.options.seed);
      return out;
    }
  }
  const auto by_screening = screened(context, state);
  if (!by_screening.empty()) out.ranking = rank_screening(context.problem, by_screening, reference);
  return out;
}

Result<SearchResult> search(const Context& context, const StoreKey& key, const ProgressCallback& callback) {
  auto enumeration = space::enumerate(context.definition, context.problem, context.device.info());
  if (!enumeration) return tl::unexpected(std::move(enumeration.error()));
  if (enumeration->variants.empty()) return tl::unexpected(empty_space(context, *enumeration));

  ProgressReporter progress(context, callback);
  SearchState state(std::move(*enumeration));
  if (!context.options.force) state.resume(context.store.trials(key));
  context.store.begin(key, context.options.seed, context.options.command_line);
  auto reference = context.device.prepare(context.problem);
  if (!reference) return fail(std::move(reference.error()), "preparing " + context.problem.title());
  context.store.save_reference(*reference);
  if (const auto best = static_cast<std::size_t>(reference->best); best < reference->algorithms.size()) {
    progress.reference(reference->algorithms[best].time_s);
  }

  auto measured = measure(context, state, *reference, progress);
  if (!measured) return fail(std::move(measured.error()), "searching " + context.problem.title());

  SearchResult result;
  result.counts = state.counts();
  result.reference = std::move(*reference);
  result.interrupted = measured->interrupted;
  result.budget_reached = measured->budget_reached;
  result.failure_examples = state.failure_examples();
  if (measured->ranking) {
    const bool complete = measured->exhausted && !measured->interrupted;
    result.answer = StoredAnswer{std::move(measured->ranking->best),
                                 std::move(measured->ranking->ranked),
                                 result.reference,
                                 result.counts,
                                 complete,
                                 measured->from_final,
                                 context.clock.utc_iso8601()};
  }
  context.store.finish(result.answer);
  progress.done();
  result.elapsed_s = context.elapsed_s();
  return result;
}

}  // namespace

Result<SearchResult> run_search(const Problem& problem, const space::TemplateDefinition& definition,
                                device::Device& device, Store& store, const Options& options,
                                const std::atomic<bool>& stop, const ProgressCallback& progress, const Clock& clock) {
  const Context context{problem, definition, device, store, options, stop, clock, clock.now_s()};
  if (auto fits = check_memory(problem, device.info()); !fits) return tl::unexpected(std::move(fits.error()));
  const StoreKey key{problem, definition.name, definition.content_hash, device.info(), device.source()};
  if (!options.force) {
    if (auto answer = store.answer(key); answer && satisfies(*answer, options.budget)) {
      SearchResult result;
      result.counts = answer->counts;
      result.reference = answer->reference;
      result.answer = std::move(answer);
      result.from_store = true;
      result.elapsed_s = context.elapsed_s();
      return result;
    }
  }
  return search(context, key, progress);
}

}  // namespace pgtune::session

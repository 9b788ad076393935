// SPDX-License-Identifier: MIT
#include "tuner/session/pipeline/screening.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "tuner/search/strategies.hpp"
#include "tuner/session/expected_times.hpp"
#include "tuner/space/estimate.hpp"
#include "tuner/util/quiet_thread.hpp"

namespace pgtune::session {
namespace {

/// What `of_template` says of the variants of one template after another.
template <typename Value, typename OfTemplate>
Result<std::vector<Value>> of_all(const SessionContext& context, const SearchState& state,
                                  const OfTemplate& of_template) {
  std::vector<Value> out;
  std::span<const Variant> left = state.variants();
  for (const std::size_t size : state.template_sizes()) {
    const Result<std::vector<Value>> own =
        of_template(context.templates.of(left.front()), left.first(size), context.problem, context.device.info());
    if (!own) return tl::unexpected<Error>(own.error());
    out.insert(out.end(), own->begin(), own->end());
    left = left.subspan(size);
  }
  return out;
}

/// What the templates expect of their variants.
Result<std::vector<std::optional<double>>> costs(const SessionContext& context, const SearchState& state) {
  return of_all<std::optional<double>>(context, state, [](const auto& definition, auto variants, const auto&... where) {
    return space::cost_clocks(definition, variants, where...);
  });
}

/// Which of their variants the templates' presets hold worth trying.
Result<std::vector<bool>> in_preset(const SessionContext& context, const SearchState& state) {
  return of_all<bool>(context, state, space::in_preset);
}

/// What was fast on another board, then the templates' defaults and their seeds.
std::vector<std::size_t> tried_first(const SessionContext& context, const SearchState& state) {
  std::vector<std::size_t> first;
  const auto add = [&](const Variant& variant) {
    if (const auto index = state.find(variant)) first.push_back(*index);
  };
  const auto& elsewhere = state.right_elsewhere();
  first.assign(elsewhere.begin(), elsewhere.end());
  const auto& definitions = context.templates.definitions();
  for (const space::TemplateDefinition& definition : definitions) add(definition.default_variant());
  for (const space::TemplateDefinition& definition : definitions)
    std::for_each(definition.seeds.begin(), definition.seeds.end(), add);
  return first;
}

/// Whether the strategy learns from other searches, and there is a source.
bool strategy_learns(const SessionContext& context) {
  const search::StrategyInfo* const info = search::find_strategy(context.options.strategy);
  return info != nullptr && info->asks_expectation && context.options.predictor;
}

}  // namespace

Screening::Screening(const SessionContext& context, SearchState& state)
    : context_(context),
      state_(state),
      space_{state.variants(), state.template_sizes(), tried_first(context, state),
             [this] { return costs(context_, state_); }} {
  if (context.templates.goes_beyond_presets()) space_.in_preset = [this] { return in_preset(context_, state_); };
  if (!strategy_learns(context)) {
    making_ = std::async(std::launch::deferred, [this] { return make(); });  // once it is asked for
    return;
  }
  auto task = std::make_shared<std::packaged_task<Made()>>([this] { return make(); });
  making_ = task->get_future();
  thread_ = start_without_signals([task] { (*task)(); });
}

Screening::~Screening() {
  if (thread_.joinable()) thread_.join();
}

Screening::Made Screening::make() {
  if (strategy_learns(context_)) predictor_ = context_.options.predictor(context_.problem, context_.device.info());
  if (predictor_) {
    space_.expectation = [this] {
      return expected_times(*predictor_, context_.templates, context_.problem, context_.device.info(),
                            state_.variants());
    };
  }
  return search::make_strategy(context_.options.strategy, space_, context_.options.seed);
}

Result<void> Screening::await_strategy(const SessionContext& prepared, ProgressReporter& progress) {
  if (strategy_) return {};
  Made made = making_.get();
  if (!made) return tl::unexpected<Error>(std::move(made.error()));
  strategy_ = std::move(*made);
  pipeline_.emplace(prepared, state_, *strategy_, progress);
  return {};
}

Result<void> Screening::build_ahead(const SessionContext& prepared, ProgressReporter& progress) {
  if (!strategy_ && making_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout) return {};
  TRY(await_strategy(prepared, progress));
  return pipeline_->build_ahead();
}

std::optional<std::string> Screening::strategy() const {
  if (!strategy_) return std::nullopt;
  return context_.options.strategy;
}

std::vector<std::string> Screening::notes() const {
  if (!strategy_ || !predictor_) return {};
  return {expectation_note(*predictor_, context_.templates, context_.device.info())};
}

}  // namespace pgtune::session

// SPDX-License-Identifier: MIT
// The screening of a search, and what of it needs no GPU, done while the GPU measures what comes before: the strategy
// is made, and what it proposes first is built.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tuner/search/search_space.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/pipeline.hpp"
#include "tuner/session/pipeline/search_state.hpp"

namespace pgtune::session {

class Screening {
 public:
  /// Begins to make the strategy. One that asks what other searches taught is made in a thread of its own: a model may
  /// have to be fitted, which takes seconds of one core. Context and state must outlive it, and the state must
  /// not change before build_ahead() or run() changes it. Precondition: the context's session is begun in the store.
  Screening(const SessionContext& context, SearchState& state);
  /// Waits for the thread, where a session ends before its screening: a fit that has begun is not broken off.
  ~Screening();
  Screening(const Screening&) = delete;
  Screening& operator=(const Screening&) = delete;

  /// Between measurements: hands what the strategy proposes to the compile workers, if the strategy is made by now, and
  /// takes what they have built; nothing is tried. They build while the GPU measures, and disturb it no more than they
  /// do in the screening: there are fewer of them than cores, and samples are timed on the GPU. Race and final have
  /// none beside them. The order of the proposals is what it would be without this. `prepared`: the context once the
  /// device is prepared. Errors: those of the device and of making the strategy.
  [[nodiscard]] Result<void> build_ahead(const SessionContext& prepared, ProgressReporter& progress);
  /// Waits until the strategy is made; the arguments are those of build_ahead(). Errors: those of making it.
  [[nodiscard]] Result<void> await_strategy(const SessionContext& prepared, ProgressReporter& progress);
  /// The screening itself, see Pipeline::run(). Precondition: the strategy is made.
  [[nodiscard]] Result<Screened> run(const AfterSearch& after, double margin) { return pipeline_->run(after, margin); }
  /// The strategy's name, once it is made.
  [[nodiscard]] std::optional<std::string> strategy() const;
  /// What its expectations rest on, where it has any.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  using Made = Result<std::unique_ptr<search::Strategy>>;
  [[nodiscard]] Made make();

  const SessionContext& context_;
  SearchState& state_;
  search::SearchSpace space_;
  std::shared_ptr<const search::Predictor> predictor_;  ///< by make(); null: nothing was learnt
  std::future<Made> making_;
  std::thread thread_;
  std::unique_ptr<search::Strategy> strategy_;  ///< null until taken from `making_`
  std::optional<Pipeline> pipeline_;            ///< likewise
};

}  // namespace pgtune::session

// SPDX-License-Identifier: MIT
// What search, bench and ladder do alike, from the first line on standard error until the clocks are given back.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tool/pgtune/cli/exit_code.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tool/pgtune/measuring/measuring_options.hpp"
#include "tool/pgtune/measuring/signals.hpp"
#include "tuner/session/bench_session.hpp"

namespace pgtune::tool {

/// One command's measuring on the device it chose. The GPU is opened for the first problem that needs it, and kept; a
/// replay is of one problem.
class MeasuringRun {
 public:
  struct Clock {
    double locked_hz = 0;  ///< of the SMs; 0: nothing is locked
    /// Throws CommandError (environment) where the lock is gone already: what is measured from here on is not locked.
    std::function<void()> check = [] {};
  };

  /// For measure(). What is referred to outlives this.
  MeasuringRun(Context& context, const MeasuringOptions& options, const DeviceChoice& choice, Clock clock,
               const StopSignals& signals);

  [[nodiscard]] const DeviceChoice& choice() const { return choice_; }
  /// As asked for, with the clock that is locked.
  [[nodiscard]] const session::SessionOptions& session() const { return session_; }
  [[nodiscard]] session::Store& store() { return store_; }
  [[nodiscard]] const StopSignals& signals() const { return signals_; }

  /// Calls `work` for each problem until a signal comes; the worst end of all. Of several problems, one that cannot be
  /// measured is told, noted in `results`, and does not take the others with it. Throws what `work` throws of a single
  /// problem, and of a GPU whatever is no usage error: it would be in the way of the others too.
  [[nodiscard]] ExitCode each(const std::vector<Problem>& problems, ResultDocument& results,
                              const std::function<ExitCode(const Problem&)>& work);

  /// Each opens the device it is given, or finds it open, and shows the progress. `by`: of answering(). Throw
  /// CommandError. A search that is answered already opens no GPU.
  [[nodiscard]] session::SearchResult search(const Problem& problem, const Answering& by);
  [[nodiscard]] session::BenchResult bench(const Problem& problem, const Answering& by,
                                           const session::BenchRequest& request);

  /// Ends the worker that holds the GPU, for work of other processes there.
  void close_gpu() { gpu_.reset(); }

 private:
  [[nodiscard]] device::Device& open(const Problem& problem, const Answering& by,
                                     const session::ProgressCallback& progress);
  /// What `session` returns for the device that answers, with a live line of its progress.
  template <typename Session>
  [[nodiscard]] auto on_device(const Problem& problem, const Answering& by, const Session& session);

  Context& context_;
  const MeasuringOptions& options_;
  const DeviceChoice& choice_;
  Clock clock_;
  const StopSignals& signals_;
  session::SessionOptions session_;
  db::Database database_;
  DatabaseStore store_;
  std::unique_ptr<device::Device> gpu_, replay_;
};

/// Locks the clocks where that is asked for, says on what and how is measured, opens the database and calls `work`. The
/// device is closed and the clocks are given back before this returns or throws; where they were not, the user is told
/// and the exit code is no better than kEnvironment. Throws CommandError (environment, usage) where they cannot be
/// locked, db::Error, and what `work` throws.
[[nodiscard]] ExitCode measure(Context& context, const MeasuringOptions& options, const DeviceChoice& choice,
                               const std::function<ExitCode(MeasuringRun&)>& work);

/// What a search or a bench ends with: the signal's code where one interrupted it, kPartial where it gave up on void
/// rounds. To reach its budget is what a search was asked for, and no end of a kind of its own.
template <typename SessionResult>
[[nodiscard]] ExitCode exit_code(const SessionResult& result, std::optional<ExitCode> signal) {
  if (result.interrupted) return signal.value_or(ExitCode::kInterrupted);
  if (result.gave_up) return ExitCode::kPartial;
  return result.answer ? ExitCode::kDone : ExitCode::kNothingValid;
}

}  // namespace pgtune::tool

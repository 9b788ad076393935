// SPDX-License-Identifier: MIT
// What search, bench and ladder do alike, from the first line on standard error until the clocks are given back.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/live_line.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/measuring/clock_guard.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tool/pgtune/measuring/gpu_lock.hpp"
#include "tool/pgtune/measuring/measuring_options.hpp"
#include "tool/pgtune/measuring/signals.hpp"
#include "tool/pgtune/measuring/stored_counters.hpp"
#include "tuner/device/compile_service.hpp"
#include "tuner/device/neighbour_clocks.hpp"
#include "tuner/session/bench_session.hpp"

namespace pgtune::tool {

/// One device at work for a command, with a connection of its own to the database. A GPU is opened for the first
/// problem that needs it, and kept, and so is its lock against other processes. Made and destroyed by the command's
/// thread, used by one thread, which closes the GPU before it ends.
class MeasuringRun {
 public:
  /// What all devices of a command have in common; outlives them.
  struct Shared {
    Context& context;
    const MeasuringOptions& options;
    const StopSignals& signals;
    std::shared_ptr<device::CompileService> compile;
    std::shared_ptr<device::GpusAtWork> at_work = std::make_shared<device::GpusAtWork>(0);
  };

  /// Locks the clocks where that is asked for. Throws CommandError (environment, usage) where they cannot be locked,
  /// db::Error.
  MeasuringRun(const Shared& shared, DeviceChoice choice);

  [[nodiscard]] const DeviceChoice& choice() const { return choice_; }
  /// "GPU 0".
  [[nodiscard]] std::string name() const;
  /// As asked for, with the clock that is locked.
  [[nodiscard]] const session::SessionOptions& session() const { return session_; }
  /// Of the pool that all devices share.
  [[nodiscard]] std::size_t compile_workers() const { return shared_.compile->workers(); }
  [[nodiscard]] session::Store& store() { return store_; }
  [[nodiscard]] const StopSignals& signals() const { return shared_.signals; }
  /// What locking the clocks left to say; empty where nothing.
  [[nodiscard]] std::string clock_note() const { return guard_ ? guard_->note() : std::string(); }
  /// Throws CommandError (environment) where a lock of the clocks is gone: what is measured from here on is not locked.
  void check_clock() const;

  void show_progress_in(ProgressView& view) { view_ = &view; }
  void clear_progress() { view_->clear(); }

  /// Each opens the GPU, or finds it open, and shows the progress. Throw CommandError. A search that is answered
  /// already opens no GPU.
  [[nodiscard]] session::SearchResult search(const Problem& problem, const space::TemplateSet& templates);
  /// Whether that goes on with what an earlier search left.
  [[nodiscard]] bool is_begun(const Problem& problem, const space::TemplateSet& templates);
  [[nodiscard]] session::BenchResult bench(const Problem& problem, const space::TemplateSet& templates,
                                           const session::BenchRequest& request);

  /// Fills in what hardware counters say of the contenders, the baseline last: a worker of its own launches each once
  /// under the profiler, for which the GPU is closed. They are stored. Whatever is in the way is in the report.
  [[nodiscard]] CounterReport counters(const Problem& problem, const space::TemplateSet& templates,
                                       std::vector<ContenderCounters> contenders);
  /// The newest stored ones of the same; nothing unless everybody has some.
  [[nodiscard]] std::optional<CounterReport> stored_counters(const Problem& problem,
                                                             const space::TemplateSet& templates,
                                                             std::vector<ContenderCounters> contenders);

  /// With --wait, for the lock of its GPU.
  [[nodiscard]] bool waits_for_gpu() const { return shared_.options.wait && !lock_; }
  /// Takes the GPU's lock. Where another process has it, waits with --wait until `give_up` says that it is not worth
  /// it any more, else throws CommandError (environment).
  void hold_gpu(const std::function<bool()>& give_up);
  /// False before the GPU was needed, and where another process has its lock.
  [[nodiscard]] bool holds_gpu() const { return lock_.has_value(); }
  /// Ends the worker that holds the GPU, for work of other processes there, or before this thread ends.
  void close_gpu() { gpu_.reset(); }
  /// Gives the clocks back. False where they may still be locked; the user is told.
  [[nodiscard]] bool release_clock();

 private:
  /// Of what a GPU measures, under the conditions asked for.
  [[nodiscard]] session::StoreKey key_of(const Problem& problem, const space::TemplateSet& templates) const;
  void lock_clock(const LockRequest& request);
  /// Tells the user who else computes on the GPU that was opened, before hours go into times that are worth nothing.
  void warn_of_others();
  /// Takes the GPU's lock or throws CommandError (environment), also where a signal ended the wait.
  void require_gpu();
  [[nodiscard]] device::Device& open(const Problem& problem, const session::ProgressCallback& progress);
  /// What `session` returns for the GPU, with its progress shown.
  template <typename Session>
  [[nodiscard]] auto on_device(const Problem& problem, const Session& session);

  Shared shared_;
  DeviceChoice choice_;
  session::SessionOptions session_;
  db::Database database_;
  DatabaseStore store_;
  ProgressView* view_ = nullptr;
  std::optional<GpuLock> lock_;
  std::optional<ClockGuard> guard_;
  std::unique_ptr<device::Device> gpu_;
};

/// What is left to do of a problem that was measured: shows its result and says how it ended. Called in the thread of
/// the command, in the order of the problems.
using Shown = std::function<ExitCode()>;
/// Measures one problem on the device it is given, in that device's thread.
using Work = std::function<Shown(MeasuringRun&, const Problem&)>;
/// Whether an earlier command measured part of a problem, which measuring it now goes on with.
using Begun = std::function<bool(MeasuringRun&, const Problem&)>;

/// Locks the clocks where that is asked for, says on what and how is measured, and has each problem measured until a
/// signal comes: one after the other on one device, side by side on several, which then get the longest expected first.
/// What is `begun` already, as the first device knows once its clocks are locked, comes after all other problems, so
/// that a list that was broken off goes on where it was; without the function nothing is. The worst end of all. Of
/// several problems, one that cannot be measured is told, noted in `results`, and does not take the others with it.
/// What is in the way of a GPU is thrown where it is the only one; of several another one takes its problem
/// (fleet.hpp). The devices are closed and the clocks given back before this returns or throws; where they were not,
/// the user is told and the exit code is no better than kEnvironment. Throws CommandError (environment, usage),
/// db::Error, and what `work` throws.
[[nodiscard]] ExitCode measure(Context& context, const MeasuringOptions& options,
                               const std::vector<DeviceChoice>& choices, const std::vector<Problem>& problems,
                               ResultDocument& results, const Work& work, const Begun& begun = {});

/// What a search or a bench ends with: the signal's code where one interrupted it, kPartial where it gave up on void
/// rounds. To reach its budget is what a search was asked for, and no end of a kind of its own.
template <typename SessionResult>
[[nodiscard]] ExitCode exit_code(const SessionResult& result, std::optional<ExitCode> signal) {
  if (result.interrupted) return signal.value_or(ExitCode::kInterrupted);
  if (result.gave_up) return ExitCode::kPartial;
  return result.answer ? ExitCode::kDone : ExitCode::kNothingValid;
}

}  // namespace pgtune::tool

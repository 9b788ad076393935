// SPDX-License-Identifier: MIT
// The common part of search, bench and ladder, from the first line on standard error until the clocks are restored.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/queries/queries.hpp"
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
#include "tuner/session/family/family_search.hpp"

namespace pgtune::tool {

/// One device of a command, with its own connection to the database. The first problem that needs the GPU opens and
/// locks it, and both are kept. The command's thread creates and destroys the object; one thread uses it and closes the
/// GPU before it ends.
class MeasuringRun {
 public:
  /// The common state of all devices of a command; outlives them.
  struct Shared {
    Context& context;
    const MeasuringOptions& options;
    const StopSignals& signals;
    std::shared_ptr<device::CompileService> compile;
    std::shared_ptr<device::GpusAtWork> at_work = std::make_shared<device::GpusAtWork>(0);
  };

  /// Locks the clocks if requested. Throws CommandError (environment, usage) if they cannot be locked, db::Error.
  MeasuringRun(const Shared& shared, DeviceChoice choice);

  [[nodiscard]] const DeviceChoice& choice() const { return choice_; }
  /// "GPU 0".
  [[nodiscard]] std::string name() const;
  /// The requested conditions, with the locked clock.
  [[nodiscard]] const session::SessionOptions& session() const { return session_; }
  /// The number of workers in the shared pool.
  [[nodiscard]] std::size_t compile_workers() const { return shared_.compile->workers(); }
  [[nodiscard]] session::Store& store() { return store_; }
  /// What the device reached at most, where the database knows.
  [[nodiscard]] std::optional<Ceilings> ceilings() const { return db::find_ceilings(database_, choice_.info); }
  [[nodiscard]] const StopSignals& signals() const { return shared_.signals; }
  /// The lock's note; empty if there is none.
  [[nodiscard]] std::string clock_note() const { return guard_ ? guard_->note() : std::string(); }
  /// Throws CommandError (environment) if a lock of the clocks is lost, as further measurements would not be locked.
  void check_clock() const;

  void show_progress_in(ProgressView& view) { view_ = &view; }
  void clear_progress() { view_->clear(); }

  /// Each opens the GPU if it is not open, and shows the progress. Throw CommandError. A search with a stored answer
  /// opens no GPU. `budget`: instead of the session's.
  [[nodiscard]] session::SearchResult search(const Problem& problem, const space::TemplateSet& templates,
                                             const session::Budget& budget);
  [[nodiscard]] session::FamilyResult search_family(const session::FamilyRequest& request,
                                                    const space::TemplateSet& templates);
  /// Whether it resumes an earlier search.
  [[nodiscard]] bool is_begun(const Problem& problem, const space::TemplateSet& templates);
  [[nodiscard]] session::BenchResult bench(const Problem& problem, const space::TemplateSet& templates,
                                           const session::BenchRequest& request);

  /// Measures and stores hardware counters of the contenders, the baseline last: a separate worker launches each once
  /// under the profiler, for which the GPU is closed. Failures are in the report.
  [[nodiscard]] CounterReport counters(const Problem& problem, const space::TemplateSet& templates,
                                       std::vector<ContenderCounters> contenders);
  /// The newest stored counters of the same contenders; nothing unless all have some.
  [[nodiscard]] std::optional<CounterReport> stored_counters(const Problem& problem,
                                                             const space::TemplateSet& templates,
                                                             std::vector<ContenderCounters> contenders);

  /// With --wait, for the lock of its GPU.
  [[nodiscard]] bool waits_for_gpu() const { return shared_.options.wait && !lock_; }
  /// Takes the GPU's lock. If another process has it, waits with --wait until `give_up` returns true; otherwise throws
  /// CommandError (environment).
  void hold_gpu(const std::function<bool()>& give_up);
  /// False before the GPU was needed, and while another process has its lock.
  [[nodiscard]] bool holds_gpu() const { return lock_.has_value(); }
  /// Ends the worker that holds the GPU, so that other processes can use it, or before this thread ends.
  void close_gpu() { gpu_.reset(); }
  /// Restores the clocks. False if they may still be locked, which is reported.
  [[nodiscard]] bool release_clock();

 private:
  /// The key of a GPU's measurements, under the requested conditions.
  [[nodiscard]] session::StoreKey key_of(const Problem& problem, const space::TemplateSet& templates) const;
  void lock_clock(const LockRequest& request);
  /// Reports other processes that compute on the opened GPU, as they would invalidate hours of measurements.
  void warn_of_others();
  /// Takes the GPU's lock or throws CommandError (environment), also if a signal ended the wait.
  void require_gpu();
  [[nodiscard]] device::Device& open(const Problem& problem, const session::ProgressCallback& progress);
  /// The result of `session` for the GPU, with its progress shown.
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

/// The last step of a measured problem: shows its result and returns its exit code. Called in the command's thread, in
/// the order of the problems.
using Shown = std::function<ExitCode()>;
/// What a command does with each problem of its list.
struct Work {
  /// Measures one problem on the given device, in that device's thread.
  std::function<Shown(MeasuringRun&, const Problem&)> measure;
  /// Whether an earlier command measured part of a problem, so that measuring it now resumes that. Empty: no problem
  /// counts as begun.
  std::function<bool(MeasuringRun&, const Problem&)> begun = {};
  /// The problem's name in messages.
  std::function<std::string(const Problem&)> title = [](const Problem& problem) { return problem.title(); };
  /// How long a problem is expected to take. Empty: as long as a search.
  std::function<double(const Problem&)> expected_s = {};
};

/// Locks the clocks if requested, prints device and conditions, and measures each problem until a signal arrives: one
/// after the other on one device, in parallel on several, the longest expected first. Problems that are begun (as the
/// first device finds after locking its clocks) come last, so that an interrupted list resumes where it stopped.
/// Returns the worst exit code. Of several problems, one that cannot be measured is reported and noted in `results`,
/// and the others continue. A failure of the only GPU is thrown; of several GPUs another one takes the problem
/// (fleet.hpp). Devices are closed and clocks restored before this returns or throws; if clocks are not restored, this
/// is reported and the exit code is at least kEnvironment. Throws CommandError (environment, usage), db::Error, and the
/// exceptions of `work`.
[[nodiscard]] ExitCode measure(Context& context, const MeasuringOptions& options,
                               const std::vector<DeviceChoice>& choices, const std::vector<Problem>& problems,
                               ResultDocument& results, const Work& work);

/// The exit code of a search or a bench: the signal's if one interrupted it, kPartial if it gave up on void rounds.
/// Reaching the budget is a normal end.
template <typename SessionResult>
[[nodiscard]] ExitCode exit_code(const SessionResult& result, std::optional<ExitCode> signal) {
  if (result.interrupted) return signal.value_or(ExitCode::kInterrupted);
  if (result.gave_up) return ExitCode::kPartial;
  return result.answer ? ExitCode::kDone : ExitCode::kNothingValid;
}

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/live_line.hpp"
#include "tuner/session/expected_search.hpp"
#include "tuner/util/quiet_thread.hpp"

namespace pgtune::tool {
namespace {

/// A problem is at fault after this many devices failed on it, and a device after it failed on this many problems.
constexpr std::size_t kStrikes = 2;

}  // namespace

Handout::Handout(const std::vector<double>& expected_s, std::size_t devices, const std::vector<bool>& begun)
    : order_(expected_s.size()), problems_(expected_s.size()), devices_(devices) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    const bool a_begun = !begun.empty() && begun[a], b_begun = !begun.empty() && begun[b];
    return a_begun == b_begun ? expected_s[a] > expected_s[b] : b_begun;
  });
}

std::optional<std::size_t> Handout::take(std::size_t device) {
  const auto found =
      std::find_if(order_.begin(), order_.end(), [&](std::size_t problem) { return may_take(device, problem); });
  if (found == order_.end()) return std::nullopt;
  problems_[*found].waits = false;
  devices_[device].problem = *found;
  return *found;
}

void Handout::done(std::size_t device, std::size_t problem) {
  problems_[problem].waits = false;
  devices_[device].problem.reset();
  devices_[device].suspects.clear();
}

Handout::AfterFailure Handout::failed(std::size_t device, std::size_t problem) {
  devices_[device].problem.reset();
  problems_[problem].waits = true;
  problems_[problem].failed_on.insert(device);
  devices_[device].suspects.insert(problem);
  if (is_at_fault(problem)) {
    for (Device& other : devices_) other.suspects.erase(problem);
    return AfterFailure::kGivenUp;
  }
  if (devices_[device].suspects.size() >= kStrikes) {
    leave(device);
    return AfterFailure::kDeviceIsOut;
  }
  return any_may_take(problem) ? AfterFailure::kElsewhere : AfterFailure::kNoDeviceLeft;
}

void Handout::leave(std::size_t device) {
  Device& leaving = devices_[device];
  if (leaving.problem) problems_[*leaving.problem].waits = true;
  leaving.problem.reset();
  leaving.out = true;
}

std::size_t Handout::devices_left() const {
  return static_cast<std::size_t>(
      std::count_if(devices_.begin(), devices_.end(), [](const Device& device) { return !device.out; }));
}

bool Handout::is_over() const {
  const bool working =
      std::any_of(devices_.begin(), devices_.end(), [](const Device& d) { return d.problem.has_value(); });
  if (working) return false;
  return std::none_of(order_.begin(), order_.end(), [&](std::size_t problem) { return any_may_take(problem); });
}

bool Handout::may_take(std::size_t device, std::size_t problem) const {
  const Problem& asked = problems_[problem];
  return asked.waits && !devices_[device].out && !asked.failed_on.contains(device) && !is_at_fault(problem);
}

/// A dropped device is at fault itself, so its failure does not count against the problem.
bool Handout::is_at_fault(std::size_t problem) const {
  const auto& failed_on = problems_[problem].failed_on;
  const auto strikes =
      std::count_if(failed_on.begin(), failed_on.end(), [&](std::size_t device) { return !devices_[device].out; });
  return static_cast<std::size_t>(strikes) >= kStrikes;
}

bool Handout::any_may_take(std::size_t problem) const {
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    if (may_take(device, problem)) return true;
  }
  return false;
}

namespace {

/// The interval of checking for a signal.
constexpr std::chrono::milliseconds kLook{100};

std::vector<double> expectations(const std::vector<Problem>& problems, const MeasuringRun& device, std::size_t devices,
                                 const Work& work) {
  const std::size_t workers = std::max<std::size_t>(device.compile_workers() / devices, 1);
  std::vector<double> expected_s;
  expected_s.reserve(problems.size());
  for (const Problem& problem : problems)
    expected_s.push_back(work.expected_s ? work.expected_s(problem)
                                         : session::expected_search(problem, device.session(), workers).seconds);
  return expected_s;
}

std::vector<std::string> names_of(const std::vector<std::unique_ptr<MeasuringRun>>& devices) {
  std::vector<std::string> names;
  for (const auto& device : devices) names.push_back(device->name());
  return names;
}

/// One call of measure_side_by_side().
class Fleet {
 public:
  Fleet(const std::vector<std::unique_ptr<MeasuringRun>>& devices, const std::vector<Problem>& problems,
        const std::vector<bool>& begun, Terminal& terminal, ResultDocument& results, const Work& work)
      : devices_(devices),
        problems_(problems),
        terminal_(terminal),
        results_(results),
        work_(work),
        view_(terminal, names_of(devices)),
        expected_s_(expectations(problems, *devices.front(), devices.size(), work)),
        handout_(expected_s_, devices.size(), begun),
        shown_(problems.size()),
        reasons_(problems.size()),
        at_work_(devices.size()),
        expected_left_s_(std::accumulate(expected_s_.begin(), expected_s_.end(), 0.0)) {}

  ExitCode run() {
    report_totals();
    std::vector<std::thread> threads;
    for (std::size_t device = 0; device < devices_.size(); ++device)
      threads.push_back(start_without_signals([this, device] { serve(device); }));
    const ExitCode code = show_results();
    for (std::thread& thread : threads) thread.join();
    if (broken_) std::rethrow_exception(broken_);
    return code;
  }

 private:
  /// The thread of one device.
  void serve(std::size_t device) {
    MeasuringRun& run = *devices_[device];
    run.show_progress_in(view_.line(device));
    // A problem that waits for a busy GPU would be kept from the others.
    if (run.waits_for_gpu()) wait_for_gpu(device);
    while (const auto problem = next(device)) measure(device, *problem);
    run.close_gpu();
    const std::lock_guard lock(mutex_);
    --at_work_;
    changed_.notify_all();
  }

  void wait_for_gpu(std::size_t device) {
    try {
      devices_[device]->hold_gpu([this] { return nothing_to_do(); });
    } catch (const CommandError& error) {
      terminal_.error(fmt::format("{}: {} (this GPU is left out)", devices_[device]->name(), error.what()));
      const std::lock_guard lock(mutex_);
      handout_.leave(device);
    }
  }

  bool nothing_to_do() {
    const std::lock_guard lock(mutex_);
    return broken_ || stopped() || handout_.is_over();
  }

  /// Waits while other devices work, as their problems may come back.
  std::optional<std::size_t> next(std::size_t device) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (broken_ || stopped() || handout_.is_out(device)) return std::nullopt;
      if (const auto problem = handout_.take(device)) return problem;
      if (handout_.is_over()) return std::nullopt;
      changed_.wait_for(lock, kLook);
    }
  }

  void measure(std::size_t device, std::size_t index) {
    const Problem& problem = problems_[index];
    const auto start = std::chrono::steady_clock::now();
    try {
      devices_[device]->check_clock();
      Shown shown = work_.measure(*devices_[device], problem);
      done(device, index, std::move(shown),
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    } catch (const CommandError& error) {
      if (error.kind() != ErrorKind::kUsage) return failed(device, index, error.what());
      done(
          device, index,
          [this, index, reason = std::string(error.what())] { return tell(index, reason, ExitCode::kUsage); }, 0);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!broken_) broken_ = std::current_exception();
      handout_.leave(device);
    }
  }

  void done(std::size_t device, std::size_t index, Shown shown, double elapsed_s) {
    {
      const std::lock_guard lock(mutex_);
      handout_.done(device, index);
      shown_[index] = std::move(shown);
      ++over_;
      expected_left_s_ -= expected_s_[index];
      if (elapsed_s >= kMeasured_s) {
        spent_s_ += elapsed_s;
        expected_spent_s_ += expected_s_[index];
      }
      changed_.notify_all();
    }
    view_.say(device, "waiting for the others");
    view_.over(device, work_.title(problems_[index]), elapsed_s);
    report_totals();
  }

  void failed(std::size_t device, std::size_t index, const std::string& reason) {
    MeasuringRun& run = *devices_[device];
    run.close_gpu();  // the next problem, if any, starts with a new worker
    Handout::AfterFailure then = Handout::AfterFailure::kNoDeviceLeft;
    {
      const std::lock_guard lock(mutex_);
      reasons_[index] = fmt::format("{}: {}", run.name(), reason);
      if (stopped()) return handout_.leave(device);  // it was stopped on request: nothing is wrong with it
      then = run.holds_gpu() ? handout_.failed(device, index) : busy(device);
      changed_.notify_all();
    }
    terminal_.error(fmt::format("{}, {}: {}{}", run.name(), work_.title(problems_[index]), reason, what_follows(then)));
    if (handout_out(device)) view_.say(device, "left out");
    report_totals();
  }

  /// Another process has the GPU, so it is not available for the next problem either.
  Handout::AfterFailure busy(std::size_t device) {
    handout_.leave(device);
    return Handout::AfterFailure::kDeviceIsOut;
  }

  static std::string_view what_follows(Handout::AfterFailure then) {
    switch (then) {
      case Handout::AfterFailure::kElsewhere:
        return " (another GPU takes the problem)";
      case Handout::AfterFailure::kGivenUp:
        return " (as on another GPU: the problem is given up)";
      case Handout::AfterFailure::kDeviceIsOut:
        return " (this GPU is left out from here on)";
      case Handout::AfterFailure::kNoDeviceLeft:
        break;
    }
    return "";
  }

  /// Shows results in the order of the problems, each as soon as those before it are shown.
  ExitCode show_results() {
    ExitCode code = ExitCode::kDone;
    std::unique_lock lock(mutex_);
    for (std::size_t index = 0; index < problems_.size();) {
      if (!shown_[index] && at_work_ > 0) {
        changed_.wait_for(lock, kLook);
        continue;
      }
      const Shown shown = std::move(shown_[index]);
      const std::string reason = reasons_[index];
      lock.unlock();
      if (shown) {
        code = worse(code, shown());
      } else if (const auto signal = devices_.front()->signals().exit_code()) {
        code = worse(code, *signal);
      } else if (!broken_) {
        const std::string why = reason.empty() ? "no GPU is left for it" : reason;
        code = worse(code, tell(index, "not measured: " + why, ExitCode::kEnvironment));
      }
      lock.lock();
      ++index;
    }
    return code;
  }

  ExitCode tell(std::size_t index, const std::string& reason, ExitCode code) {
    terminal_.error(fmt::format("{}: {}", work_.title(problems_[index]), reason));
    results_.add_error(problems_[index], reason);
    return code;
  }

  void report_totals() {
    const std::lock_guard lock(mutex_);
    FleetTotals totals{problems_.size(), over_, handout_.devices_left(), std::nullopt};
    if (expected_spent_s_ > 0 && totals.devices > 0)
      totals.remaining_s =
          std::max(0.0, expected_left_s_) * (spent_s_ / expected_spent_s_) / static_cast<double>(totals.devices);
    view_.set_totals(totals);
  }

  bool handout_out(std::size_t device) {
    const std::lock_guard lock(mutex_);
    return handout_.is_out(device);
  }
  [[nodiscard]] bool stopped() const { return devices_.front()->signals().exit_code().has_value(); }

  const std::vector<std::unique_ptr<MeasuringRun>>& devices_;
  const std::vector<Problem>& problems_;
  Terminal& terminal_;
  ResultDocument& results_;
  const Work& work_;
  FleetView view_;
  const std::vector<double> expected_s_;

  std::mutex mutex_;  ///< of what follows
  std::condition_variable changed_;
  Handout handout_;
  std::vector<Shown> shown_;                   ///< by problem: measured results that are not shown yet
  std::vector<std::string> reasons_;           ///< by problem: the last failure
  std::size_t at_work_;                        ///< threads
  std::size_t over_ = 0;                       ///< problems
  double expected_left_s_;                     ///< of problems that are not over
  double spent_s_ = 0, expected_spent_s_ = 0;  ///< on those that were measured, over all devices
  std::exception_ptr broken_;                  ///< the error that ends the command
};

}  // namespace

ExitCode measure_side_by_side(const std::vector<std::unique_ptr<MeasuringRun>>& devices,
                              const std::vector<Problem>& problems, const std::vector<bool>& begun, Terminal& terminal,
                              ResultDocument& results, const Work& work) {
  return Fleet(devices, problems, begun, terminal, results, work).run();
}

}  // namespace pgtune::tool

// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/measurer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "tuner/gpu/measure/ceilings/ceilings.hpp"
#include "tuner/gpu/measure/current_problem.hpp"
#include "tuner/gpu/measure/energy/energy_measurement.hpp"
#include "tuner/gpu/measure/energy/energy_watch.hpp"
#include "tuner/gpu/measure/measuring_gpu.hpp"
#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {

struct Measurer::State : MeasuringGpu {
  std::unique_ptr<MeasureContext> context;
  std::unique_ptr<CurrentProblem> problem;  ///< after what it uses: released first

  /// What a round needs of one contender; series is null where it failed.
  struct Entry {
    LaunchSeries* series = nullptr;
    const Finalist* finalist = nullptr;
    double per_launch_s = 0;
  };
  /// The contender's series, in the mode that all contenders share.
  [[nodiscard]] CudaResult<Entry> enter(const protocol::BuiltContender& contender);
  [[nodiscard]] CudaResult<Entry> find(const protocol::BuiltContender& contender);
  [[nodiscard]] std::vector<Entry> enter_all(const protocol::RoundRequest& request, protocol::RoundReport& report);
  void run_in_order(const protocol::RoundRequest& request, const std::vector<Entry>& entries,
                    protocol::RoundReport& report);
  /// Lets contenders follow the mode that they share, if it has changed. Returns whether one had to.
  [[nodiscard]] bool follow_mode(const std::vector<Entry>& entries, protocol::RoundReport& report);
  [[nodiscard]] Result<EnergyWindow> load_energy(const protocol::EnergyRequest& request,
                                                 const protocol::BuiltContender& load);
  /// Launches it twice, the second time in a profiled range.
  [[nodiscard]] CudaResult<> launch_watched(Launchable& launchable);
  /// Whether the contender is a variant or an algorithm that the baseline has.
  [[nodiscard]] bool has(const protocol::BuiltContender& contender) const {
    const BaselineAlgorithm* const algorithm = algorithm_of(contender);
    return algorithm == nullptr ||
           static_cast<std::size_t>(algorithm->index) < problem->baseline().report().algorithms.size();
  }
};

Measurer::Measurer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Measurer::~Measurer() = default;

Result<std::unique_ptr<Measurer>> Measurer::open(const std::string& gpu) {
  auto state = std::make_unique<State>();
  if (auto opened = state->open(gpu); !opened) return tl::unexpected(opened.error());
  state->context = std::make_unique<MeasureContext>(state->context_of_problems());
  return std::unique_ptr<Measurer>(new Measurer(std::move(state)));
}

const DeviceInfo& Measurer::info() const { return state_->info; }

bool Measurer::context_lost() const { return state_->context_lost; }

Result<BaselineReport> Measurer::prepare(const protocol::PrepareRequest& request) {
  state_->problem.reset();
  auto current = CurrentProblem::create(*state_->context, request);
  if (!current) {
    // Whatever failed, only a context that still answers can serve the next problem.
    state_->look_after_context();
    return tl::unexpected(current.error());
  }
  state_->problem = std::move(*current);
  return state_->problem->report();
}

std::vector<std::string> Measurer::opaque_algorithms() const {
  return state_->problem == nullptr ? std::vector<std::string>{} : state_->problem->baseline().opaque();
}

TrialReport Measurer::trial(const protocol::TrialRequest& request) {
  TrialReport report;
  if (state_->problem == nullptr || state_->context_lost) {
    report.outcome = {OutcomeKind::kLaunchFailed, "the worker has no problem prepared"};
    return report;
  }
  CurrentProblem& problem = *state_->problem;
  auto variant = problem.load(request.build, request.plan);
  if (!variant) {
    report.outcome = state_->outcome_of(variant.error());
    return report;
  }
  const auto verdict = problem.checker().check(**variant, request.launch_limit_s);
  if (!verdict) {
    report.outcome = state_->outcome_of(verdict.error());
    // Unloading a module waits for its kernels, and this one may never end. The process does.
    if (state_->context_lost) static_cast<void>(variant->release());
    return report;
  }
  report.check = verdict->report;
  if (!verdict->fault.empty()) {
    report.outcome = {OutcomeKind::kWrongResult, verdict->fault};
    return report;
  }
  LaunchSeries series = problem.make_series(**variant);
  auto screening = screen(series, *state_->timer, request.incumbent_s, verdict->launch_s);
  if (!screening) {
    report.outcome = state_->outcome_of(screening.error());
    return report;
  }
  report.cut = screening->cut;
  report.samples = std::move(screening->samples);
  return report;
}

CudaResult<> Measurer::State::launch_watched(Launchable& launchable) {
  const auto launch = [&] {
    return launchable.launch(0, gpu.stream.get()).and_then([&] {
      return check(cudaStreamSynchronize(gpu.stream.get()), "waiting for the launch");
    });
  };
  // The first one loads modules, and leaves the caches as launches before a sample do.
  if (auto warm = launch(); !warm) return warm;
  if (auto range = check(gpu.driver.profiler_start(), "starting the profiled range"); !range) return range;
  auto watched = launch();
  const auto ended = check(gpu.driver.profiler_stop(), "ending the profiled range");
  return watched ? ended : watched;
}

protocol::LaunchReport Measurer::launch(const protocol::LaunchRequest& request) {
  protocol::LaunchReport report;
  if (state_->problem == nullptr || state_->context_lost) {
    report.outcome = {OutcomeKind::kLaunchFailed, "the worker has no problem prepared"};
    return report;
  }
  CudaResult<> launched;
  if (request.variant) {
    launched = state_->problem->load(request.variant->build, request.variant->plan).and_then([&](const auto& variant) {
      return state_->launch_watched(*variant);
    });
  } else {
    Baseline& baseline = state_->problem->baseline();
    const auto& algorithms = baseline.report().algorithms;
    const auto title = [&](std::size_t i) { return baseline.report().title(static_cast<int>(i)); };
    auto index = static_cast<std::size_t>(baseline.report().best);
    if (!request.algorithm.empty()) {
      for (index = 0; index < algorithms.size() && title(index) != request.algorithm; ++index) {
      }
    }
    if (index >= algorithms.size()) {
      report.outcome = {OutcomeKind::kLaunchFailed,
                        fmt::format("the baseline has no algorithm '{}' any more", request.algorithm)};
      return report;
    }
    report.algorithm = title(index);
    launched = baseline.series(index, *state_->timer).and_then([&](LaunchSeries* series) {
      return state_->launch_watched(series->launchable());
    });
  }
  if (!launched) report.outcome = state_->outcome_of(launched.error());
  return report;
}

CudaResult<Measurer::State::Entry> Measurer::State::enter(const protocol::BuiltContender& contender) {
  return find(contender).and_then(
      [](const Entry& entry) { return entry.series->follow_mode().map([&] { return entry; }); });
}

CudaResult<Measurer::State::Entry> Measurer::State::find(const protocol::BuiltContender& contender) {
  if (const BaselineAlgorithm* const algorithm = algorithm_of(contender)) {
    const auto index = static_cast<std::size_t>(algorithm->index);
    const double time_s = problem->baseline().report().algorithms[index].time_s;
    return problem->baseline().series(index, *timer).map([&](LaunchSeries* series) {
      return Entry{series, nullptr, time_s};
    });
  }
  const protocol::BuiltVariant& built = *variant_of(contender);
  return problem->finalist(built.build, built.plan).map([](const Finalist* finalist) {
    return Entry{finalist->series.get(), finalist, finalist->per_launch_s};
  });
}

std::vector<Measurer::State::Entry> Measurer::State::enter_all(const protocol::RoundRequest& request,
                                                               protocol::RoundReport& report) {
  std::vector<Entry> entries(request.contenders.size());
  std::vector<const Finalist*> used;
  for (std::size_t i = 0; i < entries.size() && !context_lost; ++i) {
    const auto entry = enter(request.contenders[i]);
    if (entry) {
      entries[i] = *entry;
      used.push_back(entry->finalist);
    } else {
      report.outcomes[i] = outcome_of(entry.error());
    }
  }
  if (!context_lost) problem->keep_finalists(used);
  return entries;
}

void Measurer::State::run_in_order(const protocol::RoundRequest& request, const std::vector<Entry>& entries,
                                   protocol::RoundReport& report) {
  double slowest_s = 0;
  for (const Entry& entry : entries) slowest_s = std::max(slowest_s, entry.per_launch_s);
  const RoundTiming timing = round_timing(problem->conditions().regime, request.sample_s, slowest_s);
  for (std::size_t position = 0; position < request.order.size() && !context_lost; ++position) {
    const auto index = static_cast<std::size_t>(request.order[position]);
    const Entry& entry = entries[index];
    if (entry.series == nullptr || report.outcomes[index].kind != OutcomeKind::kOk) continue;
    if (timing.pause_s > 0) std::this_thread::sleep_for(std::chrono::duration<double>(timing.pause_s));
    auto sample = time_in_round(*entry.series, *timer, entry.per_launch_s, timing, request.settle_s);
    if (!sample) {
      report.outcomes[index] = outcome_of(sample.error());
      report.samples[index].reset();
      continue;
    }
    sample->stage = request.stage;
    sample->round = request.round;
    sample->position = static_cast<int>(position);
    report.samples[index] = *sample;
  }
}

bool Measurer::State::follow_mode(const std::vector<Entry>& entries, protocol::RoundReport& report) {
  bool followed = false;
  for (std::size_t i = 0; i < entries.size() && !context_lost; ++i) {
    LaunchSeries* const series = entries[i].series;
    if (series == nullptr || report.outcomes[i].kind != OutcomeKind::kOk) continue;
    if (series->captured() || !series->mode().in_graphs()) continue;
    followed = true;
    if (const auto captured = series->follow_mode(); !captured) {
      report.outcomes[i] = outcome_of(captured.error());
      report.samples[i].reset();
    }
  }
  return followed;
}

Result<protocol::RoundReport> Measurer::round(const protocol::RoundRequest& request) {
  if (state_->problem == nullptr || state_->context_lost) {
    return fail(ErrorKind::kInternal, "the worker has no problem prepared");
  }
  const std::size_t count = request.contenders.size();
  std::vector<int> sorted = request.order;
  std::sort(sorted.begin(), sorted.end());
  bool valid = sorted.size() == count;
  for (std::size_t i = 0; i < count && valid; ++i) {
    valid = sorted[i] == static_cast<int>(i) && state_->has(request.contenders[i]);
  }
  if (!valid) {
    return fail(ErrorKind::kInternal, fmt::format("a round's order must be a permutation of its {} contenders, and its "
                                                  "baseline algorithms must be among {}",
                                                  count, state_->problem->baseline().report().algorithms.size()));
  }
  protocol::RoundReport report;
  report.samples.resize(count);
  report.outcomes.resize(count);
  const std::vector<State::Entry> entries = state_->enter_all(request, report);
  state_->run_in_order(request, entries, report);
  // Where the host turned out too slow on the way, those before were timed one by one and those after in graphs.
  if (state_->follow_mode(entries, report)) state_->run_in_order(request, entries, report);
  if (state_->context_lost) {
    for (std::size_t i = 0; i < count; ++i) {
      if (report.samples[i] || report.outcomes[i].kind != OutcomeKind::kOk) continue;
      report.outcomes[i].reason = "not measured: another contender of this round lost the GPU's context";
    }
  }
  return report;
}

Result<protocol::VerifyReport> Measurer::verify(const protocol::VerifyRequest& request) {
  if (state_->problem == nullptr || state_->context_lost)
    return fail(ErrorKind::kInternal, "the worker has no problem prepared");
  const auto report = state_->problem->verify(request);
  if (!report) return protocol::VerifyReport{.outcome = state_->outcome_of(report.error())};
  return *report;
}

Result<EnergyWindow> Measurer::State::load_energy(const protocol::EnergyRequest& request,
                                                  const protocol::BuiltContender& load) {
  if (problem == nullptr) return fail(ErrorKind::kInternal, "the worker has no problem prepared");
  if (!has(load)) {
    return fail(ErrorKind::kInternal, fmt::format("the baseline has no algorithm {}", algorithm_of(load)->index));
  }
  const auto entry = enter(load);
  if (!entry) return tl::unexpected(to_error(entry.error()));
  problem->keep_finalists({entry->finalist});
  return measure_load_energy(request, *nvml, *entry->series, entry->per_launch_s, *kernels, info.sm_count);
}

Result<EnergyWindow> Measurer::energy(const protocol::EnergyRequest& request) {
  if (state_->context_lost) return fail(ErrorKind::kInternal, "the GPU's context is lost");
  if (!state_->nvml) return no_energy_counter("its NVML cannot be opened");
  auto window = request.contender ? state_->load_energy(request, *request.contender)
                                  : measure_idle_energy(request, *state_->nvml);
  if (!window) state_->look_after_context();
  return window;
}

Result<Ceilings> Measurer::ceilings() {
  if (state_->context_lost) return fail(ErrorKind::kInternal, "the GPU's context is lost");
  auto ceilings = measure_ceilings(state_->info, state_->gpu.driver, *state_->timer, state_->gpu.stream.get());
  if (!ceilings) state_->look_after_context();
  return ceilings;
}

}  // namespace pgtune::gpu

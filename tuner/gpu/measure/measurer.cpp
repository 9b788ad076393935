// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/measurer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tuner/gpu/measure/ceilings/ceilings.hpp"
#include "tuner/gpu/measure/current_problem.hpp"
#include "tuner/gpu/measure/energy/energy_measurement.hpp"
#include "tuner/gpu/measure/energy/energy_watch.hpp"
#include "tuner/gpu/measure/measuring_gpu.hpp"
#include "tuner/gpu/measure/round.hpp"
#include "tuner/gpu/measure/row_check.hpp"
#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {

struct Measurer::State : MeasuringGpu {
  std::unique_ptr<CurrentProblem> problem;  ///< after what it uses: released first

  /// One contender of a round; its series is null if it failed.
  struct Entry {
    RoundContender contender;
    const Finalist* finalist = nullptr;
  };
  [[nodiscard]] CudaResult<Entry> enter(const protocol::BuiltContender& contender);
  [[nodiscard]] std::vector<RoundContender> enter_all(const protocol::RoundRequest& request,
                                                      protocol::RoundReport& report);
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
  TRY(state->open(gpu));
  return std::unique_ptr<Measurer>(new Measurer(std::move(state)));
}

const DeviceInfo& Measurer::info() const { return state_->info; }

bool Measurer::context_lost() const { return state_->context_lost; }

Result<BaselineReport> Measurer::prepare(const protocol::PrepareRequest& request) {
  state_->problem.reset();
  auto current = CurrentProblem::create(*state_, request);
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
  auto variant = problem.load(request.built);
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
    launched = state_->problem->load(*request.variant).and_then([&](const auto& variant) {
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
  if (const BaselineAlgorithm* const algorithm = algorithm_of(contender)) {
    const auto index = static_cast<std::size_t>(algorithm->index);
    const double time_s = problem->baseline().report().algorithms[index].time_s;
    return problem->baseline().series(index, *timer).map([&](LaunchSeries* series) {
      return Entry{{series, time_s}, nullptr};
    });
  }
  return problem->finalist(*variant_of(contender)).map([](const Finalist* finalist) {
    return Entry{{finalist->series.get(), finalist->per_launch_s}, finalist};
  });
}

std::vector<RoundContender> Measurer::State::enter_all(const protocol::RoundRequest& request,
                                                       protocol::RoundReport& report) {
  std::vector<RoundContender> contenders(request.contenders.size());
  std::vector<const Finalist*> used;
  for (std::size_t i = 0; i < contenders.size() && !context_lost; ++i) {
    const auto entry = enter(request.contenders[i]);
    if (entry) {
      contenders[i] = entry->contender;
      used.push_back(entry->finalist);
    } else {
      report.outcomes[i] = outcome_of(entry.error());
    }
  }
  if (!context_lost) problem->keep_finalists(used);
  return contenders;
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
  const std::vector<RoundContender> contenders = state_->enter_all(request, report);
  if (!state_->context_lost) {
    const Regime regime = state_->problem->conditions().regime;
    state_->take(time_round(contenders, request, regime, *state_->timer), report);
  }
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
  const auto [series, per_launch_s] = entry->contender;
  if (series->restores())
    return fail(ErrorKind::kUsage, "its launches read what they write, and their data are restored in between");
  // As it was timed beside others.
  if (auto ok = series->follow_mode(per_launch_s); !ok) return tl::unexpected(to_error(ok.error()));
  return measure_load_energy(request, *nvml, *series, per_launch_s, *kernels, info.sm_count);
}

Result<EnergyWindow> Measurer::energy(const protocol::EnergyRequest& request) {
  if (state_->context_lost) return fail(ErrorKind::kInternal, "the GPU's context is lost");
  if (!state_->nvml) return no_energy_counter("its NVML cannot be opened");
  auto window = request.contender ? state_->load_energy(request, *request.contender)
                                  : measure_idle_energy(request, *state_->nvml);
  if (!window) state_->look_after_context();
  return window;
}

Result<protocol::RowsReport> Measurer::rows(const protocol::RowsRequest& request) {
  if (state_->context_lost) return fail(ErrorKind::kInternal, "the GPU's context is lost");
  if (!request.problem.operation || request.products.empty() || request.products.back().m != request.problem.m)
    return fail(ErrorKind::kInternal, "rows are compared with those of a problem's largest product");
  state_->problem.reset();
  TRY_ASSIGN(const auto operation, OperationKernels::create(state_->gpu.driver, *state_->kernels,
                                                            request.problem.operation, state_->info.architecture));
  auto report = check_rows(request, state_->gpu.driver, *state_->kernels, *operation, state_->gpu.stream.get());
  if (!report) return tl::unexpected(state_->error_of(report.error()));
  if (!report->wrong.empty()) state_->look_after_context();
  return std::move(*report);
}

Result<Ceilings> Measurer::ceilings() {
  if (state_->context_lost) return fail(ErrorKind::kInternal, "the GPU's context is lost");
  auto ceilings = measure_ceilings(state_->info, state_->gpu.driver, *state_->timer, state_->gpu.stream.get());
  if (!ceilings) state_->look_after_context();
  return ceilings;
}

}  // namespace pgtune::gpu

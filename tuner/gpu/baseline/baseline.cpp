// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/baseline.hpp"

#include <algorithm>
#include <utility>

#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {
namespace {

constexpr double kWarmUp_s = 50e-3;  // lets the clocks rise before the first algorithm is timed

/// A failure that is not sticky affects one algorithm; the others may still work.
CudaResult<std::string> unless_sticky(const CudaFailure& failure) {
  if (failure.sticky) return tl::unexpected(failure);
  return failure.message();
}

}  // namespace

std::vector<std::string> Baseline::opaque() const {
  std::vector<std::string> texts;
  for (const Algorithm& algorithm : algorithms_) texts.push_back(algorithm.opaque);
  return texts;
}

CudaResult<LaunchSeries*> Baseline::series(std::size_t index, SampleTimer& timer) {
  Algorithm& algorithm = algorithms_[index];
  return calibrate_once(*algorithm.series, algorithm.calibrated, timer).map([&] { return algorithm.series.get(); });
}

void Baseline::stand_beside(int place, std::vector<OtherBaseline> others) {
  report_.place = place;
  report_.others = std::move(others);
}

CudaResult<std::string> Baseline::add(std::unique_ptr<Launchable> launchable, AlgorithmReport described,
                                      std::string opaque, Checker* checker, SampleTimer& timer) {
  // Libraries load a kernel's code at its first launch: the checked launch would seem to take milliseconds longer.
  if (const auto loaded = launchable->launch(0, stream_); !loaded) return unless_sticky(loaded.error());
  double launch_s = 0;
  if (checker != nullptr) {
    const auto verdict = checker->check(*launchable);
    if (!verdict) return unless_sticky(verdict.error());
    if (!verdict->fault.empty()) return verdict->fault;
    described.max_error = verdict->report.max_error;
    launch_s = verdict->launch_s;
  }
  auto series = std::make_unique<LaunchSeries>(*launchable, rotation_, stream_);
  double incumbent_s = 0;
  for (const AlgorithmReport& earlier : report_.algorithms)
    incumbent_s = incumbent_s == 0 ? earlier.time_s : std::min(incumbent_s, earlier.time_s);
  if (report_.algorithms.empty()) {
    // Uses its own mode: launch times before the clocks have risen must not choose the mode for all.
    LaunchSeries cold(*launchable, {rotation_.copies, rotation_.sweep}, stream_);
    const auto probe = calibrate(cold, timer);
    if (!probe) return unless_sticky(probe.error());
    const auto warm = timer.time(cold, launches_for(kWarmUp_s, probe->per_launch_s(), 1, 1));
    if (!warm) return unless_sticky(warm.error());
  }
  const auto screening = screen(*series, timer, incumbent_s, launch_s);
  if (!screening) return unless_sticky(screening.error());
  described.time_s = screening->median_per_launch_s();
  report_.algorithms.push_back(std::move(described));
  algorithms_.push_back({std::move(launchable), std::move(series), std::move(opaque), true});
  return std::string();
}

Result<void> Baseline::add_only(std::unique_ptr<Launchable> launchable, AlgorithmReport described, std::string opaque,
                                const BaselineParts& parts) {
  const auto why_not =
      add(std::move(launchable), std::move(described), std::move(opaque), &parts.checker, *parts.device.timer);
  if (!why_not) return tl::unexpected(to_error(why_not.error()));
  if (!why_not->empty()) return fail(ErrorKind::kInternal, *why_not);
  return {};
}

Result<void> Baseline::take_over(const BaselineParts& parts, const protocol::KnownBaseline& known) {
  return restore(known, [&](const std::string& opaque) { return launchable(parts, opaque); }).and_then([&] {
    return warm_up(&parts.checker, *parts.device.timer).map_error(to_error);
  });
}

Result<void> Baseline::restore(const protocol::KnownBaseline& known, const MakeLaunchable& make) {
  report_ = known.report;
  rotation_.mode->set(report_.in_graphs);
  const std::size_t count = report_.algorithms.size();
  if (known.opaque.size() != count || static_cast<std::size_t>(report_.best) >= count)
    return fail(ErrorKind::kInternal, "the baseline to be taken over is incomplete");
  for (const std::string& opaque : known.opaque) {
    auto made = make(opaque);
    if (!made) return tl::unexpected<Error>(std::move(made.error()));
    auto series = std::make_unique<LaunchSeries>(**made, rotation_, stream_);
    algorithms_.push_back({std::move(*made), std::move(series), opaque, false});
  }
  return {};
}

CudaResult<> Baseline::warm_up(Checker* checker, SampleTimer& timer) {
  const auto best = static_cast<std::size_t>(report_.best);
  if (auto loaded = algorithms_[best].launchable->launch(0, stream_); !loaded) return loaded;
  if (checker != nullptr) {
    const auto verdict = checker->check(*algorithms_[best].launchable);
    if (!verdict) return tl::unexpected(verdict.error());
    if (!verdict->fault.empty()) {
      return tl::unexpected(CudaFailure{cudaErrorUnknown, "no CUDA error", verdict->fault,
                                        "checking the baseline's best algorithm after a restart", false});
    }
  }
  TRY_ASSIGN(const auto best_series, series(best, timer));
  return timer.time(*best_series, launches_for(kWarmUp_s, report_.algorithms[best].time_s, 1, 1))
      .map([](const Sample&) {});
}

void Baseline::finish(const std::string& library, std::uint64_t data_seed) {
  report_.library = library;
  report_.buffer_copies = static_cast<std::int64_t>(rotation_.copies);
  report_.data_seed = data_seed;
  report_.in_graphs = rotation_.mode->in_graphs();
  report_.first = 0;
  const auto best = std::min_element(report_.algorithms.begin(), report_.algorithms.end(),
                                     [](const auto& a, const auto& b) { return a.time_s < b.time_s; });
  report_.best = static_cast<int>(best - report_.algorithms.begin());
}

}  // namespace pgtune::gpu

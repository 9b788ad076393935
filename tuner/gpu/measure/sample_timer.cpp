// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/sample_timer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/launch_series.hpp"

namespace pgtune::gpu {
namespace {

/// Pieces of a series that are enqueued before NVML is read: more work than most readings take (8 ms at most on an
/// H200, up to 20 on an H100; single launches last 20 us at least), so that the GPU seldom waits for it, and few enough
/// that the host does not come to wait for a place in the stream's queue, which would put the reading late into the
/// sample.
constexpr std::int64_t kAheadPieces = 512;

/// A host that keeps up is at least this many launches ahead once this many are enqueued, if it enqueues in three
/// quarters of a launch's time. This reveals pauses of the host within a sample, for compilers or readings of NVML,
/// even if it is ahead again at the end.
constexpr std::int64_t kAheadLaunches = 128, kUntilAhead = 4 * kAheadLaunches;
/// The number of launches ahead at the end of a sample.
constexpr std::int64_t kFewLaunches = 2;
/// Samples with fewer launches are not judged, as the host has hardly got ahead.
constexpr std::int64_t kJudgedLaunches = 8;

}  // namespace

double mean_clock_hz(const std::vector<ClockReading>& before, const std::vector<ClockReading>& after) {
  double sum_hz = 0;
  int count = 0;
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
    if (before[i].time_ns == 0 || after[i].time_ns <= before[i].time_ns) continue;
    sum_hz += static_cast<double>(after[i].clocks - before[i].clocks) /
              static_cast<double>(after[i].time_ns - before[i].time_ns) * 1e9;
    ++count;
  }
  return count > 0 ? sum_hz / count : 0;
}

CudaResult<ClockMeter> ClockMeter::create(const HelperKernels& kernels, int sm_count) {
  ClockMeter meter;
  meter.kernels_ = &kernels;
  meter.sm_count_ = static_cast<std::size_t>(sm_count);
  TRY_ASSIGN(auto readings,
             DeviceBuffer::allocate(static_cast<std::int64_t>(2 * meter.sm_count_ * sizeof(ClockReading))));
  meter.readings_ = std::move(readings);
  return meter;
}

CudaResult<> ClockMeter::clear(cudaStream_t stream) const {
  if (kernels_ == nullptr) return {};
  return check(cudaMemsetAsync(readings_.data(), 0, static_cast<std::size_t>(readings_.bytes()), stream),
               "clearing clocks");
}

CudaResult<> ClockMeter::read_before(cudaStream_t stream) const {
  return kernels_ == nullptr ? CudaResult<>{} : kernels_->read_clocks(readings_.address(), stream);
}

CudaResult<> ClockMeter::read_after(cudaStream_t stream) const {
  if (kernels_ == nullptr) return {};
  return kernels_->read_clocks(readings_.address() + sm_count_ * sizeof(ClockReading), stream);
}

CudaResult<double> ClockMeter::mean_hz() const {
  if (kernels_ == nullptr) return 0;
  std::vector<ClockReading> readings(2 * sm_count_);
  return check(cudaMemcpy(readings.data(), readings_.data(), readings.size() * sizeof(ClockReading),
                          cudaMemcpyDeviceToHost),
               "reading clocks")
      .map([&] {
        const auto middle = readings.begin() + static_cast<std::ptrdiff_t>(sm_count_);
        return mean_clock_hz({readings.begin(), middle}, {middle, readings.end()});
      });
}

bool has_settled(std::span<const SettlingPoint> points, const SettlingRule& rule) {
  if (points.empty()) return false;
  const double now_s = points.back().end_s;
  if (now_s >= rule.most_s) return true;
  if (now_s < rule.least_s) return false;
  double early_sum_s = 0, late_sum_s = 0;
  int early = 0, late = 0;
  for (const SettlingPoint& point : points) {
    const double age_s = now_s - point.end_s;
    if (age_s < rule.window_s / 2) {
      late_sum_s += point.per_launch_s;
      ++late;
    } else if (age_s < rule.window_s) {
      early_sum_s += point.per_launch_s;
      ++early;
    }
  }
  if (early == 0 || late == 0) return false;
  return std::abs(late_sum_s / late / (early_sum_s / early) - 1) <= rule.steady;
}

CudaResult<std::unique_ptr<SampleTimer>> SampleTimer::create(const HelperKernels& kernels, int sm_count,
                                                             Telemetry telemetry) {
  TRY_ASSIGN(auto clock, ClockMeter::create(kernels, sm_count));
  return create(std::move(clock), std::move(telemetry), [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  });
}

CudaResult<std::unique_ptr<SampleTimer>> SampleTimer::create(ClockMeter clock, Telemetry telemetry, HostClock host_s) {
  std::unique_ptr<SampleTimer> timer(new SampleTimer(std::move(clock), std::move(telemetry), std::move(host_s)));
  TRY_ASSIGN(auto start, create_event());
  TRY_ASSIGN(auto stop, create_event());
  TRY_ASSIGN(auto reached, create_event());
  timer->start_ = std::move(start);
  timer->reached_ = std::move(reached);
  timer->stop_ = std::move(stop);
  std::vector<Event*> lead_in_events{&timer->lead_in_start_};
  for (Event& event : timer->piece_ends_) lead_in_events.push_back(&event);
  for (Event* event : lead_in_events) {
    TRY_ASSIGN(auto created, create_event());
    *event = std::move(created);
  }
  return timer;
}

CudaResult<Sample> SampleTimer::time(LaunchSeries& series, std::int64_t launches, std::int64_t lead_in, Watch watch) {
  return run_unless_launch_bound(series, watch,
                                 [&] { return series.enqueue(lead_in).map([&](std::int64_t) { return launches; }); });
}

CudaResult<Sample> SampleTimer::time_settled(LaunchSeries& series, double per_launch_s, double sample_s,
                                             const SettlingRule& rule) {
  // An estimate from a launch alone can be several times what one takes in a series: the sample's length follows from
  // the lead-in, which has settled within `steady`.
  const auto lead_in = [&] {
    const std::int64_t piece = launches_for(rule.piece_s, per_launch_s, 1, series.granule());
    return settle(series, piece, rule.after(host_s_() - settled_end_s_)).map([&](double settled_s) {
      return launches_for(sample_s * (1 + rule.steady), settled_s, 1, series.granule());
    });
  };
  auto sample = run_unless_launch_bound(series, Watch::kPower, lead_in);
  if (!sample) return sample;
  settled_end_s_ = host_s_();
  TRY_ASSIGN(sample->lead_in_s, seconds_between(lead_in_start_.get(), start_.get()));
  return sample;
}

CudaResult<Sample> SampleTimer::run_unless_launch_bound(LaunchSeries& series, Watch watch, const LeadIn& lead_in) {
  constexpr int kMostOneByOne = 2;
  for (int bound = 0;;) {
    TRY_ASSIGN(auto timed, run(series, watch, lead_in));
    if (!timed.launch_bound) return timed.sample;  // as no graph's is
    if (++bound < kMostOneByOne) continue;
    series.mode().set(true);
    TRY(series.capture(timed.sample.per_launch_s()));
  }
}

CudaResult<double> SampleTimer::settle(LaunchSeries& series, std::int64_t launches, const SettlingRule& rule) {
  const cudaStream_t stream = series.stream();
  settling_.clear();
  std::array<std::int64_t, kQueuedPieces + 1> counts{};
  std::size_t queued = 0, done = 0;
  const auto event_of = [&](std::size_t piece) { return piece_ends_[piece % piece_ends_.size()].get(); };
  const auto enqueue_piece = [&]() -> CudaResult<> {
    TRY_ASSIGN(const auto count, series.enqueue(launches));
    counts[queued % counts.size()] = count;
    ++queued;
    return check(cudaEventRecord(event_of(queued), stream), "ending a piece of a lead-in");
  };
  TRY(check(cudaEventRecord(lead_in_start_.get(), stream), "starting a lead-in"));
  TRY(check(cudaEventRecord(event_of(0), stream), "starting a lead-in"));
  while (!has_settled(settling_, rule)) {
    while (queued < done + kQueuedPieces) TRY(enqueue_piece());
    TRY(check(cudaEventSynchronize(event_of(done + 1)), "waiting for a piece of a lead-in"));
    TRY_ASSIGN(const auto piece_s, seconds_between(event_of(done), event_of(done + 1)));
    const double start_s = settling_.empty() ? 0 : settling_.back().end_s;
    settling_.push_back({start_s + piece_s, piece_s / static_cast<double>(counts[done % counts.size()])});
    ++done;
  }
  return settling_.back().per_launch_s;
}

CudaResult<SampleTimer::Timed> SampleTimer::run(LaunchSeries& series, Watch watch, const LeadIn& lead_in) {
  std::optional<PersistingL2> persisting;
  if (series.launchable().wants_persisting_l2()) persisting.emplace();
  const cudaStream_t stream = series.stream();
  Timed timed;
  timed.sample.graph = series.captured();
  std::int64_t launches = 0;
  auto done = clock_.clear(stream)
                  .and_then([&] { return series.sweep_l2(); })
                  .and_then(lead_in)
                  .and_then([&](std::int64_t wanted) {
                    launches = wanted;
                    if (watch == Watch::kPower) timed.watch = telemetry_.watch();
                    return clock_.read_before(stream);
                  })
                  .and_then([&] { return check(cudaEventRecord(start_.get(), stream), "starting a sample"); })
                  .and_then([&] { return enqueue(series, launches, watch, timed); })
                  .and_then([&] { return check(cudaEventRecord(stop_.get(), stream), "ending a sample"); })
                  .and_then([&] { return clock_.read_after(stream); })
                  .and_then([&] {
                    if (watch == Watch::kThrottling && !timed.throttled) timed.throttled = telemetry_.throttle_times();
                    return check(cudaStreamSynchronize(stream), "running a sample");
                  });
  if (!done) return tl::unexpected(done.error());
  Sample& sample = timed.sample;
  if (timed.watch) {
    const SampleWatch::Seen seen = timed.watch->end();
    timed.throttled = seen.throttled_before;
    if (!series.restores()) sample.power_w = seen.power_w;
  }
  telemetry_.record_temperature(sample);
  if (timed.throttled) telemetry_.record_throttling(*timed.throttled, sample);

  TRY_ASSIGN(sample.time_s, seconds_between(start_.get(), stop_.get()));
  if (series.restores()) {
    TRY_ASSIGN(sample.time_s, timed.stretches.total_s());
  }
  TRY_ASSIGN(sample.sm_clock_hz, clock_.mean_hz());
  return timed;
}

CudaResult<> SampleTimer::enqueue(LaunchSeries& series, std::int64_t launches, Watch watch, Timed& timed) {
  const auto enqueue_some = [&](std::int64_t count) {
    return series.enqueue(count, series.restores() ? &timed.stretches : nullptr).map([&](std::int64_t enqueued) {
      timed.sample.launches += enqueued;
    });
  };
  const bool judged = !series.captured() && launches >= kJudgedLaunches;
  const std::int64_t last = judged ? kFewLaunches : 0, others = launches - last;
  const std::int64_t ahead = kAheadPieces * series.granule(), some = judged ? kAheadLaunches : ahead;
  const auto look = [&] {
    return has_happened(reached_.get(), "looking how far a sample is").map([&](bool happened) {
      timed.launch_bound = happened;
    });
  };
  CudaResult<> ok;
  while (ok && !timed.launch_bound && timed.sample.launches < others) {
    ok = enqueue_some(std::min(some, others - timed.sample.launches));
    if (ok && judged && timed.sample.launches > kUntilAhead) ok = look();  // at the end of those before
    if (ok && judged) ok = check(cudaEventRecord(reached_.get(), series.stream()), "noting how far a sample is");
    // Where this was all, a reading would put the sample's end off until the host is back.
    if (ok && timed.sample.launches >= ahead && timed.sample.launches < others && watch == Watch::kThrottling &&
        !timed.throttled)
      timed.throttled = telemetry_.throttle_times();
  }
  if (!ok || !judged || timed.launch_bound) return ok;
  return enqueue_some(last).and_then(look);
}

}  // namespace pgtune::gpu

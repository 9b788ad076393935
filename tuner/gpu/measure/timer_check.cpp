// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/timer_check.hpp"

#include <algorithm>
#include <cstddef>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/util/middle.hpp"

namespace pgtune::gpu {
namespace {

constexpr int kEventPairs = 101;
/// Each gives one reading an SM; their times fall at random between two steps of the timer.
constexpr int kClockReadings = 20;

CudaResult<double> event_floor_s(cudaStream_t stream) {
  auto start = create_event();
  if (!start) return tl::unexpected(start.error());
  auto stop = create_event();
  if (!stop) return tl::unexpected(stop.error());
  std::vector<float> times_ms(kEventPairs);
  for (float& time_ms : times_ms) {
    auto done =
        check(cudaEventRecord(start->get(), stream), "recording an event")
            .and_then([&] { return check(cudaEventRecord(stop->get(), stream), "recording an event"); })
            .and_then([&] { return check(cudaEventSynchronize(stop->get()), "waiting for an event"); })
            .and_then([&] {
              return check(cudaEventElapsedTime(&time_ms, start->get(), stop->get()), "reading an event's time");
            });
    if (!done) return tl::unexpected(done.error());
  }
  return static_cast<double>(middle_of(std::move(times_ms))) * 1e-3;
}

CudaResult<double> globaltimer_step_s(const HelperKernels& kernels, int sm_count, cudaStream_t stream) {
  std::vector<ClockReading> readings(static_cast<std::size_t>(sm_count));
  const auto bytes = readings.size() * sizeof(ClockReading);
  auto buffer = DeviceBuffer::allocate(static_cast<std::int64_t>(bytes));
  if (!buffer) return tl::unexpected(buffer.error());
  std::vector<std::uint64_t> times_ns;
  for (int i = 0; i < kClockReadings; ++i) {
    auto done = check(cudaMemsetAsync(buffer->data(), 0, bytes, stream), "clearing clocks")
                    .and_then([&] { return kernels.read_clocks(buffer->address(), stream); })
                    .and_then([&] { return check(cudaStreamSynchronize(stream), "reading clocks"); })
                    .and_then([&] {
                      return check(cudaMemcpy(readings.data(), buffer->data(), bytes, cudaMemcpyDeviceToHost),
                                   "fetching clocks");
                    });
    if (!done) return tl::unexpected(done.error());
    for (const ClockReading& reading : readings) {
      if (reading.time_ns != 0) times_ns.push_back(reading.time_ns);  // an SM that got no CTA
    }
  }
  return static_cast<double>(smallest_step(std::move(times_ns))) * 1e-9;
}

}  // namespace

std::uint64_t smallest_step(std::vector<std::uint64_t> readings) {
  std::sort(readings.begin(), readings.end());
  std::uint64_t smallest = 0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const std::uint64_t step = readings[i] - readings[i - 1];
    if (step != 0 && (smallest == 0 || step < smallest)) smallest = step;
  }
  return smallest;
}

Result<TimerFacts> check_timers(int ordinal) {
  const auto info = describe_gpu(ordinal);
  if (!info) return tl::unexpected(info.error());
  // cudaFree(nullptr) creates the context, which the driver's functions need.
  const auto chosen = check(cudaSetDevice(ordinal), "choosing the GPU").and_then([] {
    return check(cudaFree(nullptr), "opening the GPU");
  });
  if (!chosen) return tl::unexpected(to_error(chosen.error()));
  const auto driver = Driver::load();
  if (!driver) return tl::unexpected(driver.error());
  const auto kernels = HelperKernels::load(*driver, info->architecture, info->sm_count);
  if (!kernels) return tl::unexpected(kernels.error());
  const auto stream = create_stream();
  if (!stream) return tl::unexpected(to_error(stream.error()));
  const auto facts = event_floor_s(stream->get()).and_then([&](double floor_s) {
    return globaltimer_step_s(**kernels, info->sm_count, stream->get()).map([&](double step_s) {
      return TimerFacts{floor_s, step_s};
    });
  });
  if (!facts) return tl::unexpected(to_error(facts.error()));
  return *facts;
}

}  // namespace pgtune::gpu

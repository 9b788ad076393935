// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/clock_meter.hpp"

namespace pgtune::gpu {

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
  auto readings = DeviceBuffer::allocate(static_cast<std::int64_t>(2 * meter.sm_count_ * sizeof(ClockReading)));
  if (!readings) return tl::unexpected(readings.error());
  meter.readings_ = std::move(*readings);
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

}  // namespace pgtune::gpu

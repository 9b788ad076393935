// SPDX-License-Identifier: MIT
// What a kernel without hints leaves in L2 helps no sample of a kernel whose reads and writes all evict first.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/gpu/measure/measuring_gpu.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::gpu {
namespace {

/// Copies one half of each place to the other.
class CopyInPlaces : public Launchable {
 public:
  CopyInPlaces(const HelperKernels& kernels, HelperKernels::Copy how, std::uint64_t memory, std::int64_t half_bytes)
      : kernels_(kernels), how_(how), memory_(memory), half_bytes_(half_bytes) {}

  CudaResult<> launch(std::size_t copy, cudaStream_t stream) override {
    const auto half = static_cast<std::uint64_t>(half_bytes_);
    const std::uint64_t from = memory_ + 2 * copy * half;
    return kernels_.copy_words(how_, from, from + half, half_bytes_, stream);
  }

 private:
  const HelperKernels& kernels_;
  HelperKernels::Copy how_;
  std::uint64_t memory_;
  std::int64_t half_bytes_;
};

class L2SweepOnDevice : public testing::Test {
 protected:
  static constexpr std::size_t kPlaces = 2;

  void SetUp() override {
    const auto ordinal = find_gpu("0");
    if (!ordinal) GTEST_SKIP() << "needs a GPU: " << ordinal.error().text();
    info_ = describe_gpu(*ordinal).value();
    gpu_.emplace(open_context(*ordinal).value());
    kernels_ = HelperKernels::load(gpu_->driver, info_.architecture, info_.sm_count).value();
    timer_ = SampleTimer::create(*kernels_, info_.sm_count, Telemetry()).value();
    sweep_.emplace(L2Sweep::create(*kernels_, info_.l2_bytes).value());
    half_bytes_ = 2 * info_.l2_bytes / 16 * 16;
    memory_ = DeviceBuffer::allocate(2 * half_bytes_ * static_cast<std::int64_t>(kPlaces)).value();
  }

  /// Median time of a launch that evicts first, in samples each of which follows a copy that is made in that way.
  [[nodiscard]] double time_after(HelperKernels::Copy before, const L2Sweep* sweep) {
    CopyInPlaces former(*kernels_, before, memory_.address(), half_bytes_);
    CopyInPlaces streaming(*kernels_, HelperKernels::Copy::kEightStreaming, memory_.address(), half_bytes_);
    LaunchSeries fore(former, {kPlaces, sweep}, gpu_->stream.get()),
        series(streaming, {kPlaces, sweep}, gpu_->stream.get());
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) {
      EXPECT_TRUE(timer_->time(fore, 100));
      const auto sample = timer_->time(series, 100, 20);
      EXPECT_TRUE(sample) << sample.error().message();
      if (sample) times.push_back(sample->per_launch_s());
    }
    return times.empty() ? 0 : stats::median(times);
  }

  DeviceInfo info_;
  std::optional<GpuContext> gpu_;
  std::unique_ptr<HelperKernels> kernels_;
  std::unique_ptr<SampleTimer> timer_;
  std::optional<L2Sweep> sweep_;
  std::int64_t half_bytes_ = 0;
  DeviceBuffer memory_;
};

TEST_F(L2SweepOnDevice, WhatRanBeforeHelpsNoSample) {
  using Copy = HelperKernels::Copy;
  for (const L2Sweep* sweep : {static_cast<const L2Sweep*>(nullptr), static_cast<const L2Sweep*>(&*sweep_)}) {
    const double after_plain = time_after(Copy::kFourWords, sweep);
    const double after_streaming = time_after(Copy::kEightStreaming, sweep);
    fmt::print("{}: {:.2f} us after a copy without hints, {:.2f} us after one that evicts first\n",
               sweep == nullptr ? "as it is" : "swept", after_plain * 1e6, after_streaming * 1e6);
    // Without a sweep the times differ: a kernel whose accesses all evict first leaves operands in L2.
    if (sweep == nullptr) continue;
    EXPECT_NEAR(after_plain / after_streaming, 1, 0.01);
  }
}

}  // namespace
}  // namespace pgtune::gpu

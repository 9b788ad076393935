// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/copy_baseline.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {
namespace {

constexpr double kCopyWarmUp_s = 50e-3;  // lets the clocks rise before the first way is timed
constexpr std::int64_t kWordBytes = 16;

constexpr std::array<std::pair<HelperKernels::Copy, const char*>, HelperKernels::kCopies> kWays{
    {{HelperKernels::Copy::kFourWords, "64 bytes a thread"},
     {HelperKernels::Copy::kTwoWords, "32 bytes a thread"},
     {HelperKernels::Copy::kFourStreaming, "64 bytes a thread, evict first"},
     {HelperKernels::Copy::kEightStreaming, "128 bytes a thread, evict first"}}};

/// Read, and written: half of the traffic, in whole words.
std::int64_t half_of(double bytes) {
  return std::max<std::int64_t>(static_cast<std::int64_t>(bytes / 2) / kWordBytes, 1) * kWordBytes;
}

}  // namespace

class CopyBaseline::Way : public Launchable {
 public:
  Way(const HelperKernels& kernels, HelperKernels::Copy copy, std::uint64_t memory, std::int64_t half_bytes)
      : kernels_(kernels), copy_(copy), memory_(memory), half_bytes_(half_bytes) {}

  CudaResult<> launch(std::size_t copy, cudaStream_t stream) override {
    const auto half = static_cast<std::uint64_t>(half_bytes_);
    const std::uint64_t from = memory_ + 2 * copy * half;
    return kernels_.copy_words(copy_, from, from + half, half_bytes_, stream);
  }

 private:
  const HelperKernels& kernels_;
  HelperKernels::Copy copy_;
  std::uint64_t memory_;
  std::int64_t half_bytes_;
};

std::int64_t CopyBaseline::memory_bytes(double bytes, std::int64_t copies) { return 2 * half_of(bytes) * copies; }

CudaResult<std::unique_ptr<CopyBaseline>> CopyBaseline::begin(double bytes, std::size_t copies,
                                                              const HelperKernels& kernels, cudaStream_t stream) {
  std::unique_ptr<CopyBaseline> baseline(new CopyBaseline);
  auto memory = DeviceBuffer::allocate(memory_bytes(bytes, static_cast<std::int64_t>(copies)));
  if (!memory) return tl::unexpected(memory.error());
  baseline->memory_ = std::move(*memory);
  // What is moved is no matter of zeros, which some memories are faster with.
  auto filled = kernels.fill_pattern({baseline->memory_.address(), baseline->memory_.bytes()}, 0x9e3779b9U, stream);
  if (!filled) return tl::unexpected(filled.error());
  for (const auto& [copy, name] : kWays) {
    Algorithm algorithm;
    algorithm.launchable = std::make_unique<Way>(kernels, copy, baseline->memory_.address(), half_of(bytes));
    algorithm.series = std::make_unique<LaunchSeries>(*algorithm.launchable, copies, stream);
    baseline->algorithms_.push_back(std::move(algorithm));
  }
  return baseline;
}

Result<std::unique_ptr<CopyBaseline>> CopyBaseline::create(double bytes, std::size_t copies, std::uint64_t data_seed,
                                                           const HelperKernels& kernels, SampleTimer& timer,
                                                           cudaStream_t stream) {
  auto begun = begin(bytes, copies, kernels, stream);
  if (!begun) return tl::unexpected(to_error(begun.error()));
  std::unique_ptr<CopyBaseline> baseline = std::move(*begun);
  BaselineReport& report = baseline->report_;
  for (std::size_t i = 0; i < kWays.size(); ++i) {
    Algorithm& algorithm = baseline->algorithms_[i];
    if (i == 0) {
      const auto warm = calibrate(*algorithm.series, timer).and_then([&](const Sample& probe) {
        return timer.time(*algorithm.series, launches_for(kCopyWarmUp_s, probe.per_launch_s(), 1, 1));
      });
      if (!warm) return tl::unexpected(to_error(warm.error()));
      // The screening below calibrates again: start it from a fresh series.
      algorithm.series = std::make_unique<LaunchSeries>(*algorithm.launchable, copies, stream);
    }
    const auto screening = screen(*algorithm.series, timer, 0, 0);
    if (!screening) return tl::unexpected(to_error(screening.error()));
    algorithm.calibrated = true;
    report.algorithms.push_back({static_cast<int>(i), kWays.at(i).second, 0, screening->median_per_launch_s(), 0});
  }
  const auto best = std::min_element(report.algorithms.begin(), report.algorithms.end(),
                                     [](const auto& a, const auto& b) { return a.time_s < b.time_s; });
  report.library = kCopyBaseline;
  report.best = static_cast<int>(best - report.algorithms.begin());
  report.first = 0;
  report.buffer_copies = static_cast<std::int64_t>(copies);
  report.data_seed = data_seed;
  return baseline;
}

Result<std::unique_ptr<CopyBaseline>> CopyBaseline::take_over(double bytes, std::size_t copies,
                                                              const HelperKernels& kernels,
                                                              const protocol::KnownBaseline& known,
                                                              cudaStream_t stream) {
  if (known.report.algorithms.size() != kWays.size())
    return fail(ErrorKind::kInternal, "the baseline to be taken over is incomplete");
  auto begun = begin(bytes, copies, kernels, stream);
  if (!begun) return tl::unexpected(to_error(begun.error()));
  (*begun)->report_ = known.report;
  return std::move(*begun);
}

std::vector<std::string> CopyBaseline::opaque() const {
  std::vector<std::string> names;
  for (const auto& [copy, name] : kWays) names.emplace_back(name);
  return names;
}

CudaResult<LaunchSeries*> CopyBaseline::series(std::size_t index, SampleTimer& timer) {
  Algorithm& algorithm = algorithms_[index];
  return calibrate_once(*algorithm.series, algorithm.calibrated, timer).map([&] { return algorithm.series.get(); });
}

}  // namespace pgtune::gpu

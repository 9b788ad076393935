// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/copy_baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace pgtune::gpu {
namespace {

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

CudaResult<std::unique_ptr<CopyBaseline>> CopyBaseline::begin(double bytes, const Rotation& rotation,
                                                              const HelperKernels& kernels, cudaStream_t stream) {
  std::unique_ptr<CopyBaseline> baseline(new CopyBaseline(rotation, stream));
  auto memory = DeviceBuffer::allocate(memory_bytes(bytes, static_cast<std::int64_t>(rotation.copies)));
  if (!memory) return tl::unexpected(memory.error());
  baseline->memory_ = std::move(*memory);
  // What is moved is no matter of zeros, which some memories are faster with.
  return kernels.fill_pattern({baseline->memory_.address(), baseline->memory_.bytes()}, 0x9e3779b9U, stream).map([&] {
    return std::move(baseline);
  });
}

Result<std::unique_ptr<CopyBaseline>> CopyBaseline::create(double bytes, const Rotation& rotation,
                                                           std::uint64_t data_seed, const HelperKernels& kernels,
                                                           SampleTimer& timer, cudaStream_t stream) {
  auto begun = begin(bytes, rotation, kernels, stream);
  if (!begun) return tl::unexpected(to_error(begun.error()));
  std::unique_ptr<CopyBaseline> baseline = std::move(*begun);
  int rank = 0;
  for (const auto& [copy, name] : kWays) {
    auto way = std::make_unique<Way>(kernels, copy, baseline->memory_.address(), half_of(bytes));
    const auto why_not = baseline->add(std::move(way), {rank++, name, 0, 0, 0}, name, nullptr, timer);
    if (!why_not) return tl::unexpected(to_error(why_not.error()));
    if (!why_not->empty()) return fail(ErrorKind::kInternal, fmt::format("copying memory: {}", *why_not));
  }
  baseline->finish(std::string(kCopyBaseline), data_seed);
  return baseline;
}

Result<std::unique_ptr<CopyBaseline>> CopyBaseline::take_over(double bytes, const Rotation& rotation,
                                                              const HelperKernels& kernels,
                                                              const protocol::KnownBaseline& known,
                                                              cudaStream_t stream) {
  if (known.report.algorithms.size() != kWays.size())
    return fail(ErrorKind::kInternal, "the baseline to be taken over is incomplete");
  auto begun = begin(bytes, rotation, kernels, stream);
  if (!begun) return tl::unexpected(to_error(begun.error()));
  std::unique_ptr<CopyBaseline> baseline = std::move(*begun);
  baseline->Baseline::take_over(known.report);
  for (const auto& [copy, name] : kWays) {
    baseline->Baseline::take_over(std::make_unique<Way>(kernels, copy, baseline->memory_.address(), half_of(bytes)),
                                  name);
  }
  return baseline;
}

}  // namespace pgtune::gpu

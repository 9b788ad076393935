// SPDX-License-Identifier: MIT
#include "pipeline/worker/copy_rates.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/plan/machine.hpp"
#include "pipeline/worker/host_operands.hpp"
#include "pipeline/worker/loaded_pipeline.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/util/middle.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{256} << 20, kLeastBytes = std::int64_t{1} << 19;
constexpr int kCopyTimes = 5;
/// Other load on the host can only slow copies down, perhaps all copies of one attempt.
constexpr int kAttempts = 3;
constexpr std::size_t kSmallBytes = 4096;
constexpr int kSmallCopies = 200;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// One direction: host memory, device memory and a stream.
struct Lane {
  std::byte* host = nullptr;
  void* device = nullptr;
  cudaStream_t stream = nullptr;
  bool in = true;
  std::size_t bytes = 0;

  [[nodiscard]] CudaResult<> enqueue() const { return enqueue(bytes); }
  [[nodiscard]] CudaResult<> enqueue(std::size_t count) const {
    return check(in ? cudaMemcpyAsync(device, host, count, cudaMemcpyHostToDevice, stream)
                    : cudaMemcpyAsync(host, device, count, cudaMemcpyDeviceToHost, stream),
                 "measuring a copy");
  }
  [[nodiscard]] CudaResult<> wait() const { return check(cudaStreamSynchronize(stream), "measuring a copy"); }
  /// Copies and waits.
  [[nodiscard]] CudaResult<double> time() const {
    const auto start = Clock::now();
    auto ok = enqueue().and_then([&] { return wait(); });
    if (!ok) return tl::unexpected(ok.error());
    return seconds_since(start);
  }
};

/// The fastest of some attempts, or the first failure.
template <typename Rates>
CudaResult<Rates> fastest(const std::function<CudaResult<Rates>()>& measure,
                          const std::function<bool(const Rates&, const Rates&)>& slower) {
  auto best = measure();
  for (int attempt = 1; attempt < kAttempts && best; ++attempt) {
    auto next = measure();
    if (!next || slower(*best, *next)) best = std::move(next);
  }
  return best;
}

CudaResult<double> rate_alone(const Lane& lane) {
  std::vector<double> times;
  for (int time = 0; time <= kCopyTimes; ++time) {
    TRY_ASSIGN(const auto took, lane.time());
    if (time > 0) times.push_back(took);
  }
  return static_cast<double>(lane.bytes) / middle_of(std::move(times));
}

struct Both {
  double in = 0, out = 0;
};

/// Each lane has its own thread, because copies of pageable memory block their caller. All copies except the first and
/// the last overlap the other direction's.
CudaResult<Both> rates_at_once(const Lane& in, const Lane& out, int device) {
  std::vector<double> in_s, out_s;
  CudaResult<> failed;
  const auto times_of = [](const Lane& lane, std::vector<double>& times) -> CudaResult<> {
    for (int time = 0; time < kCopyTimes + 2; ++time) {
      TRY_ASSIGN(const auto took, lane.time());
      times.push_back(took);
    }
    return {};
  };
  std::thread other([&] {
    failed = check(cudaSetDevice(device), "choosing the GPU").and_then([&] { return times_of(out, out_s); });
  });
  const auto ok = times_of(in, in_s);
  other.join();
  if (!ok) return tl::unexpected(ok.error());
  if (!failed) return tl::unexpected(failed.error());
  const auto rate = [](const Lane& lane, const std::vector<double>& times) {
    return static_cast<double>(lane.bytes) / middle_of(std::vector<double>(times.begin() + 1, times.end() - 1));
  };
  return Both{rate(in, in_s), rate(out, out_s)};
}

/// The cost of each of many small copies: on the device, of the host's call, and of waiting.
CudaResult<> measure_small(const Lane& lane, pipeline::CopyRates& rates) {
  std::vector<double> latencies, issues, waited;
  for (int time = 0; time <= kCopyTimes; ++time) {
    const auto start = Clock::now();
    for (int copy = 0; copy < kSmallCopies; ++copy) {
      if (auto ok = lane.enqueue(kSmallBytes); !ok) return ok;
    }
    const double issued_s = seconds_since(start);
    if (auto ok = lane.wait(); !ok) return ok;
    const double all_s = seconds_since(start);
    const auto second = Clock::now();
    for (int copy = 0; copy < kSmallCopies; ++copy) {
      if (auto ok = lane.enqueue(kSmallBytes).and_then([&] { return lane.wait(); }); !ok) return ok;
    }
    if (time == 0) continue;
    waited.push_back(seconds_since(second) / kSmallCopies);
    latencies.push_back(all_s / kSmallCopies);
    issues.push_back(issued_s / kSmallCopies);
  }
  rates.latency_s = middle_of(std::move(latencies));
  rates.issue_s = middle_of(std::move(issues));
  rates.wait_s = std::max(0.0, middle_of(std::move(waited)) - rates.latency_s);
  return {};
}

}  // namespace

CudaResult<pipeline::CopyRates> measure_copy_rates(std::int64_t pinned_limit_bytes) {
  const std::int64_t bytes = std::clamp(pinned_limit_bytes / 2, kLeastBytes, kMostBytes);
  auto pinned_in = HostBuffer::allocate(HostKind::kPinned, bytes),
       pinned_out = HostBuffer::allocate(HostKind::kPinned, bytes);
  auto pageable_in = HostBuffer::allocate(HostKind::kPageable, bytes),
       pageable_out = HostBuffer::allocate(HostKind::kPageable, bytes);
  for (const auto* buffer : {&pinned_in, &pinned_out, &pageable_in, &pageable_out}) {
    if (!*buffer) return tl::unexpected(buffer->error());
  }
  TRY_ASSIGN(auto device_in, DeviceBuffer::allocate(bytes));
  TRY_ASSIGN(auto device_out, DeviceBuffer::allocate(bytes));
  TRY_ASSIGN(auto stream_in, create_stream());
  TRY_ASSIGN(auto stream_out, create_stream());
  int device = 0;
  TRY(check(cudaGetDevice(&device), "asking for the GPU"));

  const auto count = static_cast<std::size_t>(bytes);
  const auto lane = [&](const HostBuffer& host, bool in) {
    return Lane{host.data(), in ? device_in.data() : device_out.data(), in ? stream_in.get() : stream_out.get(), in,
                count};
  };
  pipeline::CopyRates rates;
  const auto alone = [](const Lane& of, double& rate) {
    return fastest<double>([&] { return rate_alone(of); }, std::less<>()).map([&](double measured) {
      rate = measured;
    });
  };
  const auto at_once = [&](const HostBuffer& in, const HostBuffer& out, double& rate_in, double& rate_out) {
    const auto measure = [&] { return rates_at_once(lane(in, true), lane(out, false), device); };
    const auto slower = [](const Both& a, const Both& b) { return a.in + a.out < b.in + b.out; };
    return fastest<Both>(measure, slower).map([&](const Both& both) {
      rate_in = both.in;
      rate_out = both.out;
    });
  };
  auto ok = alone(lane(*pinned_in, true), rates.pinned_in)
                .and_then([&] { return alone(lane(*pinned_out, false), rates.pinned_out); })
                .and_then([&] { return at_once(*pinned_in, *pinned_out, rates.pinned_in_both, rates.pinned_out_both); })
                .and_then([&] { return alone(lane(*pageable_in, true), rates.pageable_in); })
                .and_then([&] { return alone(lane(*pageable_out, false), rates.pageable_out); })
                .and_then([&] {
                  return at_once(*pageable_in, *pageable_out, rates.pageable_in_both, rates.pageable_out_both);
                })
                .and_then([&] { return measure_small(lane(*pinned_in, true), rates); });
  if (!ok) return tl::unexpected(ok.error());
  pgtune_pipeline::detail::Copier copier;
  std::vector<double> times;
  for (int time = 0; time <= kCopyTimes; ++time) {
    const auto start = Clock::now();
    copy_bytes(copier, pinned_in->data(), pageable_in->data(), bytes);
    if (time > 0) times.push_back(seconds_since(start));
  }
  rates.host_copy = static_cast<double>(bytes) / middle_of(std::move(times));
  return rates;
}

namespace {

using pipeline::index_of;
using pipeline::Matrix;

constexpr std::int64_t kChunkBytes = std::int64_t{8} << 20, kLeastChunkBytes = std::int64_t{1} << 20;
constexpr int kRuns = 7;

/// Writes a few bytes of D: the ordering of copies around a kernel is the same for any kernel.
class TinyKernel final : public Launchable {
 public:
  TinyKernel(const HelperKernels& helpers, std::vector<OperandSet> sets) : helpers_(&helpers), sets_(std::move(sets)) {}
  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override {
    return helpers_->fill_pattern({sets_[copy][Operand::kD].address, 16}, 0, stream);
  }

 private:
  const HelperKernels* helpers_;
  std::vector<OperandSet> sets_;
};

class TinyKernels final : public KernelSource {
 public:
  explicit TinyKernels(const HelperKernels& helpers) : helpers_(&helpers) {}
  [[nodiscard]] CudaResult<Kernel> make(const Problem& /*problem*/, const std::vector<OperandSet>& sets,
                                        std::size_t /*sample*/, cudaStream_t /*stream*/) override {
    return Kernel{std::make_unique<TinyKernel>(*helpers_, sets), "a few bytes"};
  }

 private:
  const HelperKernels* helpers_;
};

CudaResult<double> median_run(LoadedPipeline& loaded) {
  std::vector<double> times;
  for (int run = 0; run < kRuns; ++run) {
    pipeline::RunSample sample;
    TRY(loaded.run(sample));
    times.push_back(sample.device_s);
  }
  return middle_of(std::move(times));
}

}  // namespace

CudaResult<pipeline::CopyRates> measure_stream_turns(const pipeline::CopyRates& rates, std::int64_t pinned_limit_bytes,
                                                     const HelperKernels& helpers, bool batched_copies) {
  const std::int64_t chunk_bytes = std::min(kChunkBytes, pinned_limit_bytes / (2 * pipeline::kTurnsChunks));
  if (chunk_bytes < kLeastChunkBytes) return pipeline::with_turns({}, rates, {});
  const pipeline::StreamedProblem streamed = pipeline::turns_problem(chunk_bytes);
  HostOperands host;
  for (const Matrix matrix : {Matrix::kA, Matrix::kD}) {
    TRY_ASSIGN(auto buffer, HostBuffer::allocate(HostKind::kPinned, streamed.bytes(matrix)));
    host.matrices[index_of(matrix)] = std::move(buffer);
  }
  TRY_ASSIGN(const auto b, DeviceBuffer::allocate(streamed.bytes(Matrix::kB)));
  ResidentOperands resident{};
  resident[index_of(Matrix::kB)] = b.address();
  TinyKernels kernels(helpers);
  std::vector<pipeline::TurnsLoop> loops;
  for (const pipeline::Candidate& candidate : pipeline::turns_candidates(streamed, batched_copies)) {
    const auto took_s =
        LoadedPipeline::load(streamed, candidate, host, resident, kernels)
            .and_then([](const std::unique_ptr<LoadedPipeline>& loaded) { return median_run(*loaded); });
    if (!took_s) return tl::unexpected(took_s.error());
    loops.push_back({candidate, *took_s});
  }
  return pipeline::with_turns(streamed, rates, loops);
}

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
#include "pipeline/worker/stream_turns.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "pipeline/plan/stream_turns.hpp"
#include "pipeline/worker/loaded_pipeline.hpp"
#include "tuner/util/middle.hpp"

namespace pgtune::gpu {
namespace {

using pipeline::index_of;
using pipeline::Matrix;

constexpr std::int64_t kChunkBytes = std::int64_t{8} << 20, kLeastChunkBytes = std::int64_t{1} << 20;
constexpr int kRuns = 7;

/// Writes a few bytes of D: what orders copies around a kernel is the same for any.
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
    if (auto ok = loaded.run(sample); !ok) return tl::unexpected(ok.error());
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
    auto buffer = HostBuffer::allocate(HostKind::kPinned, streamed.bytes(matrix));
    if (!buffer) return tl::unexpected(buffer.error());
    host.matrices[index_of(matrix)] = std::move(*buffer);
  }
  const auto b = DeviceBuffer::allocate(streamed.bytes(Matrix::kB));
  if (!b) return tl::unexpected(b.error());
  ResidentOperands resident{};
  resident[index_of(Matrix::kB)] = b->address();
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

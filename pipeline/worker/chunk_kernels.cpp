// SPDX-License-Identifier: MIT
#include "pipeline/worker/chunk_kernels.hpp"

#include <algorithm>
#include <utility>

#include "tuner/gpu/launch/handles.hpp"

namespace pgtune::gpu {
namespace {

constexpr int kTimes = 3;

}  // namespace

CudaResult<double> least_launch_time(const std::function<CudaResult<>()>& launch, cudaStream_t stream) {
  TRY_ASSIGN(const auto start, create_event());
  TRY_ASSIGN(const auto stop, create_event());
  double least_s = 0;
  for (int time = 0; time <= kTimes; ++time) {
    const auto took = check(cudaEventRecord(start.get(), stream), "timing a kernel")
                          .and_then(launch)
                          .and_then([&] { return check(cudaEventRecord(stop.get(), stream), "timing a kernel"); })
                          .and_then([&] { return check(cudaEventSynchronize(stop.get()), "running a kernel"); })
                          .and_then([&] { return seconds_between(start.get(), stop.get()); });
    if (!took) return tl::unexpected(took.error());
    if (time > 0) least_s = time == 1 ? *took : std::min(least_s, *took);
  }
  return least_s;
}

CudaResult<ChunkKernels::Kernel> ChunkKernels::make(const Problem& problem, const std::vector<OperandSet>& sets,
                                                    std::size_t sample, cudaStream_t stream) {
  const std::string key = problem.key();
  const auto origin = origins_.find(key);
  if (origin == origins_.end()) return library_->make(problem, sets, sample, stream);
  if (origin->second == Origin::kStored) return built_->make(problem, sets, sample, stream);
  if (const auto known = faster_.find(key); known != faster_.end())
    return known->second->make(problem, sets, sample, stream);
  return make_faster(key, problem, sets, sample, stream);
}

CudaResult<ChunkKernels::Kernel> ChunkKernels::make_faster(const std::string& key, const Problem& problem,
                                                           const std::vector<OperandSet>& sets, std::size_t sample,
                                                           cudaStream_t stream) {
  struct Timed {
    Kernel kernel;
    double time_s = 0;
  };
  const auto time = [&](KernelSource& source) -> CudaResult<Timed> {
    TRY_ASSIGN(auto kernel, source.make(problem, sets, sample, stream));
    const auto time_s = least_launch_time([&] { return kernel.launchable->launch(sample, stream); }, stream);
    if (!time_s) return tl::unexpected(time_s.error());
    return Timed{std::move(kernel), *time_s};
  };
  auto library = time(*library_);
  if (!library && library.error().sticky) return tl::unexpected(library.error());
  auto guess = time(*built_);
  if (!guess && (guess.error().sticky || !library)) return tl::unexpected(guess.error());
  const bool takes_guess = guess && (!library || guess->time_s < library->time_s);
  faster_[key] = takes_guess ? built_ : library_;
  return std::move((takes_guess ? guess : library)->kernel);
}

void ChunkKernels::refuse_guess(const Problem& problem) {
  if (const auto known = faster_.find(problem.key()); known != faster_.end()) known->second = library_;
}

}  // namespace pgtune::gpu

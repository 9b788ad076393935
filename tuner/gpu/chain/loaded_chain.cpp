// SPDX-License-Identifier: MIT
#include "tuner/gpu/chain/loaded_chain.hpp"

#include <algorithm>
#include <utility>

namespace pgtune::gpu {
namespace {

/// Whether its first kernel may start before the launch before it has ended.
bool overlaps_launch_before(const LaunchPlan& plan) {
  return !plan.kernels.empty() && plan.kernels.front().overlaps_previous;
}

}  // namespace

CudaResult<std::unique_ptr<LoadedChain>> LoadedChain::load(const MeasureContext& context, const Chain& chain,
                                                           const std::vector<protocol::ChainKernel>& kernels,
                                                           const ChainMemory& memory, bool overlapping) {
  std::unique_ptr<LoadedChain> out(new LoadedChain());
  out->copies_ = memory.copies();
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    const bool overlaps = overlapping && kernels[i].overlapping;
    const protocol::BuiltVariant& built = overlaps ? *kernels[i].overlapping : kernels[i].alone;
    auto variant = LoadedVariant::load(context.driver, context.kernels, built.build, built.plan,
                                       memory.places(chain.steps[i]), context.max_window_bytes, context.stream);
    if (!variant) {
      CudaFailure failure = variant.error();
      failure.call = "step '" + chain.steps[i].name + "': " + failure.call;
      return tl::unexpected(std::move(failure));
    }
    out->steps_.push_back({std::move(*variant), overlaps && overlaps_launch_before(built.plan)});
  }
  return out;
}

CudaResult<> LoadedChain::launch(std::size_t copy, cudaStream_t stream) {
  return launch_watched(copy, stream, false, nullptr);
}

CudaResult<> LoadedChain::launch_next(std::size_t copy, cudaStream_t stream) {
  return launch_watched(copy, stream, true, nullptr);
}

CudaResult<> LoadedChain::launch_watched(std::size_t copy, cudaStream_t stream, bool follows,
                                         const BeforeStep& before) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const bool overlaps = step.overlaps && follows;
    follows = true;
    CudaResult<> ok = before ? before(i) : CudaResult<>{};
    if (ok) ok = overlaps ? step.variant->launch_next(copy, stream) : step.variant->launch(copy, stream);
    if (!ok) return ok;
  }
  return {};
}

CudaResult<> LoadedChain::reset(std::size_t copy, cudaStream_t stream) {
  for (const Step& step : steps_) {
    if (auto ok = step.variant->reset(copy, stream); !ok) return ok;
  }
  return {};
}

bool LoadedChain::wants_persisting_l2() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const Step& step) { return step.variant->wants_persisting_l2(); });
}

std::int64_t LoadedChain::overlapping_launches() const {
  const auto each = std::count_if(steps_.begin(), steps_.end(), [](const Step& step) { return step.overlaps; });
  return each * static_cast<std::int64_t>(copies_) - (steps_.front().overlaps ? 1 : 0);
}

}  // namespace pgtune::gpu

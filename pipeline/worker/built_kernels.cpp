// SPDX-License-Identifier: MIT
#include "pipeline/worker/built_kernels.hpp"

#include <algorithm>
#include <utility>

#include "tuner/gpu/measure/loaded_variant.hpp"

namespace pgtune::gpu {

CudaResult<BuiltKernels::Kernel> BuiltKernels::make(const Problem& problem, const std::vector<OperandSet>& sets,
                                                    std::size_t /*sample*/, cudaStream_t stream) {
  const auto own = std::find_if(built_.begin(), built_.end(), [&](const auto& k) { return k.problem == problem; });
  if (own == built_.end())
    return tl::unexpected(CudaFailure{cudaErrorNotSupported, cudaGetErrorName(cudaErrorNotSupported),
                                      "no kernel was built for a chunk of " + problem.title(), "choosing a kernel",
                                      false});
  auto variant =
      LoadedVariant::load(*driver_, *helpers_, own->built.build, own->built.plan, sets, max_window_bytes_, stream);
  if (!variant) return tl::unexpected(variant.error());
  return Kernel{std::move(*variant), own->built.variant.id()};
}

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
#include "tool/worker/room_roles.hpp"

#include "tuner/gpu/measure/check/operation_kernels.hpp"

namespace pgtune::worker {

void keep_references(const WorkerOptions& options) {
  if (options.cache_folder.empty()) return;
  if (auto cache = gpu::CubinCache::open(options.cache_folder))
    gpu::OperationKernels::keep_cubins_in(std::move(*cache));
}

}  // namespace pgtune::worker

// SPDX-License-Identifier: MIT
// Where a pipeline's kernels come from. An interface, so that the loop itself is tested without a GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

class KernelSource {
 public:
  struct Kernel {
    std::unique_ptr<Launchable> launchable;  ///< with a workspace of its own: for one stream
    std::string name;
  };
  virtual ~KernelSource() = default;

  /// A kernel for `problem` on each of `sets`, of which `sample` holds data already. May launch on `stream`.
  [[nodiscard]] virtual CudaResult<Kernel> make(const Problem& problem, const std::vector<OperandSet>& sets,
                                                std::size_t sample, cudaStream_t stream) = 0;
};

}  // namespace pgtune::gpu

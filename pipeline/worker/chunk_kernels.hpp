// SPDX-License-Identifier: MIT
// Which kernel each chunk has: what a search found for exactly that problem, else the faster one of the library's and
// the model's guess. Behind an interface, so that choice and loop are tested without a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
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

/// The least of three launches after a first one, which loads the kernel; seconds between events. Waits for each.
[[nodiscard]] CudaResult<double> least_launch_time(const std::function<CudaResult<>()>& launch, cudaStream_t stream);

class ChunkKernels final : public KernelSource {
 public:
  /// How a problem came to have a built kernel.
  enum class Origin { kStored, kGuessed };

  /// `library` has a kernel for most problems, `built` for those in `origins`, by Problem::key(). Both must outlive the
  /// object.
  ChunkKernels(KernelSource& library, KernelSource& built, std::map<std::string, Origin> origins)
      : library_(&library), built_(&built), origins_(std::move(origins)) {}

  /// At the first call for a problem with a guess it and the library's are timed on the set `sample`; waits for the
  /// stream then. A guess that does not run is passed over, unless it took the GPU with it.
  [[nodiscard]] CudaResult<Kernel> make(const Problem& problem, const std::vector<OperandSet>& sets, std::size_t sample,
                                        cudaStream_t stream) override;

  /// The guess for the problem, where there is one, turned out wrong: kernels that are made from here on are the
  /// library's.
  void refuse_guess(const Problem& problem);

 private:
  [[nodiscard]] CudaResult<Kernel> make_faster(const std::string& key, const Problem& problem,
                                               const std::vector<OperandSet>& sets, std::size_t sample,
                                               cudaStream_t stream);

  KernelSource* library_;
  KernelSource* built_;
  std::map<std::string, Origin> origins_;
  std::map<std::string, KernelSource*> faster_;  ///< of guesses that were timed, by Problem::key()
};

}  // namespace pgtune::gpu

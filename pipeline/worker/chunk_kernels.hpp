// SPDX-License-Identifier: MIT
// The kernel of each chunk: a search's result for exactly that problem, else the faster of the library's kernel and the
// model's guess. An interface, so that choice and loop are tested without a GPU.
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
    std::unique_ptr<Launchable> launchable;  ///< with its own workspace: for one stream
    std::string name;
  };
  virtual ~KernelSource() = default;

  /// A kernel for `problem` on each of `sets`; `sample` has data already. May launch on `stream`.
  [[nodiscard]] virtual CudaResult<Kernel> make(const Problem& problem, const std::vector<OperandSet>& sets,
                                                std::size_t sample, cudaStream_t stream) = 0;
};

/// The least of three launches after a first one, which loads the kernel; seconds between events. Waits for each.
[[nodiscard]] CudaResult<double> least_launch_time(const std::function<CudaResult<>()>& launch, cudaStream_t stream);

class ChunkKernels final : public KernelSource {
 public:
  /// The origin of a problem's built kernel.
  enum class Origin { kStored, kGuessed };

  /// `library` has a kernel for most problems, `built` for those in `origins`, by Problem::key(). Both must outlive the
  /// object.
  ChunkKernels(KernelSource& library, KernelSource& built, std::map<std::string, Origin> origins)
      : library_(&library), built_(&built), origins_(std::move(origins)) {}

  /// The first call for a problem with a guess times it and the library's kernel on the set `sample`, and waits for the
  /// stream. A guess that does not run is skipped, unless it caused a sticky error.
  [[nodiscard]] CudaResult<Kernel> make(const Problem& problem, const std::vector<OperandSet>& sets, std::size_t sample,
                                        cudaStream_t stream) override;

  /// Reports that the guess for the problem, if any, was wrong: later kernels are the library's.
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

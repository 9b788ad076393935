// SPDX-License-Identifier: MIT
// Which kernel each chunk has: what a search found for exactly that problem, else the faster one of the library's and
// the model's guess.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pipeline/worker/kernel_source.hpp"

namespace pgtune::gpu {

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

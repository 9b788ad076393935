// SPDX-License-Identifier: MIT
// Chunks' kernels of cuBLASLt.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/worker/kernel_source.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"

namespace pgtune::gpu {

class LibraryKernels final : public KernelSource {
 public:
  /// `library`: "cuBLASLt 13.0.2", for names and messages.
  explicit LibraryKernels(std::string library) : library_(std::move(library)) {}

  /// Which of the first eight algorithms is fastest is found out at the first call for a problem, on the set `sample`;
  /// waits for the stream then. cudaErrorNotSupported where there is none.
  [[nodiscard]] CudaResult<Kernel> make(const Problem& problem, const std::vector<OperandSet>& sets, std::size_t sample,
                                        cudaStream_t stream) override;

 private:
  [[nodiscard]] CudaResult<CublasLtCandidate> fastest(const CublasLtMatmul& matmul, const OperandSet& operands,
                                                      cudaStream_t stream) const;

  std::string library_;
  std::unordered_map<std::string, CublasLtCandidate> chosen_;  ///< by Problem::key()
};

}  // namespace pgtune::gpu

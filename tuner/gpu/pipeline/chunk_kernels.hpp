// SPDX-License-Identifier: MIT
// Kernels for chunks: a built variant where pgtune has one for exactly that problem, else cuBLASLt's.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/pipeline/kernel_source.hpp"
#include "tuner/protocol/pipeline_messages.hpp"

namespace pgtune::gpu {

class ChunkKernels final : public KernelSource {
 public:
  /// `driver` and `helpers` must outlive the object.
  ChunkKernels(const Driver& driver, const HelperKernels& helpers, std::string library,
               std::vector<protocol::ChunkKernel> built, std::int64_t max_window_bytes)
      : driver_(&driver),
        helpers_(&helpers),
        library_(std::move(library)),
        built_(std::move(built)),
        max_window_bytes_(max_window_bytes) {}

  /// Which of cuBLASLt's algorithms is fastest is found out at the first call for a problem, on the set `sample`; waits
  /// for the stream then. cudaErrorNotSupported where cuBLASLt has none.
  [[nodiscard]] CudaResult<Kernel> make(const Problem& problem, const std::vector<OperandSet>& sets, std::size_t sample,
                                        cudaStream_t stream) override;

 private:
  [[nodiscard]] CudaResult<CublasLtCandidate> fastest(const CublasLtMatmul& matmul, const OperandSet& operands,
                                                      cudaStream_t stream) const;

  const Driver* driver_;
  const HelperKernels* helpers_;
  std::string library_;
  std::vector<protocol::ChunkKernel> built_;
  std::int64_t max_window_bytes_;
  std::unordered_map<std::string, CublasLtCandidate> chosen_;  ///< by Problem::key()
};

}  // namespace pgtune::gpu

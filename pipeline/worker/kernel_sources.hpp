// SPDX-License-Identifier: MIT
// The sources of chunks' kernels: cuBLASLt, and builds of pgtune's variants.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/search/messages.hpp"
#include "pipeline/worker/chunk_kernels.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"

namespace pgtune::gpu {

class LibraryKernels final : public KernelSource {
 public:
  /// `library`: "cuBLASLt 13.0.2", for names and messages.
  explicit LibraryKernels(std::string library) : library_(std::move(library)) {}

  /// The first call for a problem times the first eight algorithms on the set `sample`, and waits for the stream.
  /// cudaErrorNotSupported if there is none.
  [[nodiscard]] CudaResult<Kernel> make(const Problem& problem, const std::vector<OperandSet>& sets, std::size_t sample,
                                        cudaStream_t stream) override;

 private:
  [[nodiscard]] CudaResult<CublasLtCandidate> fastest(const CublasLtMatmul& matmul, const OperandSet& operands,
                                                      cudaStream_t stream) const;

  std::string library_;
  std::unordered_map<std::string, CublasLtCandidate> chosen_;  ///< by Problem::key()
};

class BuiltKernels final : public KernelSource {
 public:
  /// `driver` and `helpers` must outlive the object.
  BuiltKernels(const Driver& driver, const HelperKernels& helpers, std::vector<protocol::ChunkKernel> built,
               std::int64_t max_window_bytes)
      : driver_(&driver), helpers_(&helpers), built_(std::move(built)), max_window_bytes_(max_window_bytes) {}

  /// cudaErrorNotSupported for another problem than those of the list.
  [[nodiscard]] CudaResult<Kernel> make(const Problem& problem, const std::vector<OperandSet>& sets, std::size_t sample,
                                        cudaStream_t stream) override;

 private:
  const Driver* driver_;
  const HelperKernels* helpers_;
  std::vector<protocol::ChunkKernel> built_;
  std::int64_t max_window_bytes_;
};

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// Measures this GPU's ceilings: DRAM, L2 and shared memory bandwidth, arithmetic of the CUDA cores and the tensor
// cores. The kernels of ceilings.cu and tensor_ceilings.cu are functions here that only enqueue.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/kernel_table.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/model/dtype.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/model/records.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

// One CTA's work, as in ceilings.cu.
inline constexpr std::int64_t kCopyThreads = 256, kCopyCtaBytes = 16 << 10;
inline constexpr std::int64_t kCeilingThreads = 1024;  ///< of the kernels for L2, shared memory and arithmetic
inline constexpr std::int64_t kL2PieceBytes = 64 << 10;
inline constexpr std::int64_t kSmemBytesPerIteration = 16 * 16;  ///< of a thread
inline constexpr std::int64_t kFfmasPerIteration = 16 * 16;

struct CeilingsPlan {
  std::int64_t copy_bytes = 0;     ///< of the copy's source, and of its destination
  std::int64_t l2_pieces = 0;      ///< of the region in L2, the start of the copy's source
  std::int64_t resident_ctas = 0;  ///< CTAs of kCeilingThreads that fill the GPU once

  /// Bytes read plus bytes written by a launch of the copy.
  [[nodiscard]] double dram_bytes() const;
  /// Bytes a launch reads through L2.
  [[nodiscard]] double l2_bytes() const;
  /// Bytes a launch reads from shared memory.
  [[nodiscard]] double smem_bytes() const;
  /// A fused multiply-add counts as two.
  [[nodiscard]] double flops() const;
};

/// The copy's buffers are 1 GiB each, or 4 times L2 if that is more, but at most a quarter of the free memory. The
/// region in L2 is a third of L2. Errors (usage): the free memory is too small for buffers of 2 times L2.
[[nodiscard]] Result<CeilingsPlan> plan_ceilings(const DeviceInfo& device, std::int64_t free_bytes);

/// ceilings.cu compiled for `architecture`; needs no GPU. Errors (environment): this NVRTC does not know it.
[[nodiscard]] Result<std::string> compile_ceiling_kernels(const std::string& architecture);

class CeilingKernels {
 public:
  /// Loads the result of compile_ceiling_kernels(). `driver` must outlive the result.
  [[nodiscard]] static CudaResult<std::unique_ptr<CeilingKernels>> load(const Driver& driver, const std::string& cubin,
                                                                        const CeilingsPlan& plan);

  /// Words without a pattern.
  [[nodiscard]] CudaResult<> fill(const DeviceSpan& span, cudaStream_t stream) const;
  /// plan.copy_bytes from one address to the other.
  [[nodiscard]] CudaResult<> copy(std::uint64_t from, std::uint64_t to, cudaStream_t stream) const;
  /// Every CTA reads pieces of the region.
  [[nodiscard]] CudaResult<> read_l2(std::uint64_t region, cudaStream_t stream) const;
  /// Every CTA reads its shared memory over and over.
  [[nodiscard]] CudaResult<> read_smem(cudaStream_t stream) const;
  [[nodiscard]] CudaResult<> ffma(cudaStream_t stream) const;

 private:
  enum Kernel { kFill, kCopy, kL2, kSmem, kFfma, kCount };

  CeilingKernels(KernelTable<kCount> kernels, const CeilingsPlan& plan) : kernels_(std::move(kernels)), plan_(plan) {}

  KernelTable<kCount> kernels_;
  CeilingsPlan plan_;
};

/// The dtypes for which tensor_ceilings.cu has a kernel on this architecture: empty if its instructions do not reach
/// the ceiling (compute capability 10 has others) or do not exist.
[[nodiscard]] std::vector<Dtype> tensor_ceiling_dtypes(const DeviceInfo& device);

/// tensor_ceilings.cu compiled for `architecture`, 8.0 or newer; needs no GPU. Errors (environment): this NVRTC does
/// not know it.
[[nodiscard]] Result<std::string> compile_tensor_ceilings(const std::string& architecture);

class TensorCeilingKernels {
 public:
  /// Loads the result of compile_tensor_ceilings() for that device. `driver` must outlive the result.
  [[nodiscard]] static CudaResult<std::unique_ptr<TensorCeilingKernels>> load(const Driver& driver,
                                                                              const std::string& cubin,
                                                                              const DeviceInfo& device);

  /// Enqueues one launch of a dtype of tensor_ceiling_dtypes().
  [[nodiscard]] CudaResult<> launch(Dtype dtype, cudaStream_t stream) const;
  /// Floating-point or integer operations of one launch; a fused multiply-add counts as two.
  [[nodiscard]] double flops(Dtype dtype) const;

 private:
  TensorCeilingKernels(const Driver& driver, Module module, const DeviceInfo& device)
      : driver_(&driver), module_(std::move(module)), sm_count_(device.sm_count), wgmma_(device.compute_major == 9) {}

  const Driver* driver_;
  Module module_;
  std::int64_t sm_count_;
  bool wgmma_;
  std::map<Dtype, CUfunction> functions_;
};

/// The best of several samples of about 20 ms for each limit, after a warm-up of 0.1 s, or of 0.5 s for tensor cores,
/// whose ceiling depends on the power cap. Takes about 4 seconds. Frees its memory. Errors: usage if too little memory
/// is free, environment if NVRTC does not know the GPU, internal if CUDA fails.
[[nodiscard]] Result<Ceilings> measure_ceilings(const DeviceInfo& device, const Driver& driver, SampleTimer& timer,
                                                cudaStream_t stream);

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// The roof of every operation: memory copied as fast as this GPU can, as many bytes as the operation has to move.
#pragma once

#include <memory>

#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/launchable.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

class CopyBaseline : public Baseline {
 public:
  /// Half of `bytes` is read and half written, in memory of its own, over as many copies as the operands have. Several
  /// ways of copying are its algorithms. `kernels` and `timer` must outlive the result. Errors: (usage) too little
  /// memory; (internal) CUDA fails.
  [[nodiscard]] static Result<std::unique_ptr<CopyBaseline>> create(double bytes, const Rotation& rotation,
                                                                    std::uint64_t data_seed,
                                                                    const HelperKernels& kernels, SampleTimer& timer,
                                                                    cudaStream_t stream);
  /// With the report of another process; nothing is timed.
  [[nodiscard]] static Result<std::unique_ptr<CopyBaseline>> take_over(double bytes, const Rotation& rotation,
                                                                       const HelperKernels& kernels,
                                                                       const protocol::KnownBaseline& known,
                                                                       cudaStream_t stream);
  /// Bytes that create() allocates.
  [[nodiscard]] static std::int64_t memory_bytes(double bytes, std::int64_t copies);

 private:
  class Way;

  using Baseline::Baseline;
  /// With its memory, and no algorithms.
  [[nodiscard]] static CudaResult<std::unique_ptr<CopyBaseline>> begin(double bytes, const Rotation& rotation,
                                                                       const HelperKernels& kernels,
                                                                       cudaStream_t stream);
  DeviceBuffer memory_;
};

}  // namespace pgtune::gpu

// SPDX-License-Identifier: MIT
// The kernels of an operation's own source, compiled: its reference and its fills.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/jit/cubin_cache.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/model/operation_problem.hpp"

namespace pgtune::gpu {

/// Addresses of an operation's right values and their scales: all outputs packed, one after the other.
struct ReferenceMemory {
  std::uint64_t values = 0, scales = 0;
};

/// The content of buffers that launches read and write: the fill's data (even if changed since), or the present
/// content.
enum class InOutData { kFilled, kPresent };

class OperationKernels {
 public:
  /// From now on, compile() in this process also stores and finds its results in `folder`.
  static void keep_cubins_in(CubinCache folder);
  /// The cubin for an NVRTC target such as "sm_90a"; needs no GPU. What was compiled before, by this process
  /// or as keep_cubins_in() says, is not compiled again. Errors (usage): the source does not compile, with what the
  /// compiler says; or a kernel is not there or takes other arguments.
  [[nodiscard]] static Result<std::string> compile(const OperationProblem& operation, const std::string& architecture);
  /// Errors as compile(). `driver` and `kernels` must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<OperationKernels>> create(const Driver& driver,
                                                                        const HelperKernels& kernels,
                                                                        OperationHandle operation,
                                                                        const std::string& architecture);

  /// Enqueues addresses within `operands` into the arrays of pointers, and data into the other inputs, in their order;
  /// equal seeds give equal data.
  [[nodiscard]] CudaResult<> fill(const OperandSet& operands, DataDistribution distribution, std::uint64_t seed,
                                  cudaStream_t stream) const;
  /// Only the addresses.
  [[nodiscard]] CudaResult<> fill_pointers(const OperandSet& operands, cudaStream_t stream) const;
  /// Like fill(), then the data of the operation's case of that index.
  [[nodiscard]] CudaResult<> fill_case(std::size_t index, const OperandSet& operands, DataDistribution distribution,
                                       std::uint64_t seed, cudaStream_t stream) const;
  /// The same for only those inputs that launches change.
  [[nodiscard]] CudaResult<> restore_inouts(const OperandSet& operands, DataDistribution distribution,
                                            std::uint64_t seed, cudaStream_t stream) const;
  /// The right results for these operands; kFilled is with the data of `seed`. Scales that no kernel writes are 1.
  [[nodiscard]] CudaResult<> refer(const OperandSet& operands, DataDistribution distribution, std::uint64_t seed,
                                   InOutData inouts, const ReferenceMemory& memory, cudaStream_t stream) const;
  /// Residuals of the results that these operands hold, for the inputs that refer() was called with: with kPresent,
  /// buffers that launches change are what they were then. Does nothing where the operation has no residuals.
  [[nodiscard]] CudaResult<> judge(const OperandSet& operands, DataDistribution distribution, std::uint64_t seed,
                                   InOutData inouts, const ReferenceMemory& memory, cudaStream_t stream) const;

  [[nodiscard]] const OperationProblem& operation() const { return *operation_; }

  /// Outputs, with the packed number of their first element among all outputs' elements.
  struct Output {
    std::size_t buffer = 0;
    std::int64_t first = 0;
  };
  [[nodiscard]] const std::vector<Output>& outputs() const { return outputs_; }

 private:
  OperationKernels(const Driver& driver, const HelperKernels& kernels, OperationHandle operation, Module module);
  /// Inputs that a launch changes are lost when the reference needs them, and pointers do not lead to their copies.
  [[nodiscard]] bool refers_elsewhere(const OperationBuffer& buffer) const;
  [[nodiscard]] CudaResult<> allocate_initial();
  [[nodiscard]] CudaResult<> fill_buffer(std::size_t index, const OperandSet& operands, DataDistribution distribution,
                                         std::uint64_t seed, cudaStream_t stream) const;
  [[nodiscard]] CudaResult<> fill_array(std::size_t index, const OperandSet& operands, cudaStream_t stream) const;
  /// Fills the buffer of that index as `buffer` says, which may be another than the operation's.
  [[nodiscard]] CudaResult<> fill_as(const OperationBuffer& buffer, std::size_t index, const OperandSet& operands,
                                     DataDistribution distribution, std::uint64_t seed, cudaStream_t stream) const;
  /// `operands` with what launches change as it is before one, for the reference.
  [[nodiscard]] OperandSet as_before(const OperandSet& operands) const;
  /// Data into that memory: of the seed, or with kPresent what `operands` hold.
  [[nodiscard]] CudaResult<> keep_initial(const OperandSet& operands, DataDistribution distribution, std::uint64_t seed,
                                          InOutData inouts, cudaStream_t stream) const;
  [[nodiscard]] CudaResult<> clear(const ReferenceMemory& memory, cudaStream_t stream) const;
  /// `results`: where arguments of kResult are; null for kernels that have none.
  [[nodiscard]] CudaResult<> launch(const ReferenceLaunch& launch, const OperandSet& operands,
                                    const OperandSet* results, std::uint64_t seed, const ReferenceMemory& memory,
                                    cudaStream_t stream) const;

  const Driver* driver_;
  const HelperKernels* kernels_;
  OperationHandle operation_;
  Module module_;
  std::vector<Output> outputs_;
  /// Beside the buffers: what inout buffers hold before a launch, and pointers into that.
  std::vector<DeviceBuffer> initial_;
};

}  // namespace pgtune::gpu

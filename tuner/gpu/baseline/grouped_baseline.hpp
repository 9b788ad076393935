// SPDX-License-Identifier: MIT
// The baseline of an operation that is a product for each group: cuBLAS's grouped products, whose sizes come from the
// host, as one call.
#pragma once

#include <memory>

#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/baseline/grouped_launchable.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

class GroupedBaseline : public Baseline {
 public:
  /// `product` is one of the baselines of the buffers' operation, and of groups. What is given must outlive the result.
  /// Errors say why it is not available: (environment) there is no such library, (usage) it has no such products,
  /// (internal) they are wrong, CUDA fails.
  [[nodiscard]] static Result<std::unique_ptr<GroupedBaseline>> create(const LibraryProduct& product,
                                                                       const OperandBuffers& buffers, Checker& checker,
                                                                       SampleTimer& timer, cudaStream_t stream);
  /// As another process found it, on the same data; checked again. Errors: what is known cannot be read, and as
  /// create().
  [[nodiscard]] static Result<std::unique_ptr<GroupedBaseline>> take_over(const LibraryProduct& product,
                                                                          const OperandBuffers& buffers,
                                                                          Checker& checker, SampleTimer& timer,
                                                                          const protocol::KnownBaseline& known,
                                                                          cudaStream_t stream);
  /// Bytes beside the operation's own: with each operand set, and once.
  [[nodiscard]] static std::int64_t copy_bytes(const LibraryProduct& product, const OperationProblem& problem);
  static constexpr std::int64_t kFixedBytes = CublasContext::kWorkspaceBytes;

 private:
  using Baseline::Baseline;
  struct Begun {
    std::unique_ptr<GroupedBaseline> baseline;
    std::unique_ptr<GroupedLaunchable> launchable;
  };
  [[nodiscard]] static Result<Begun> begin(const LibraryProduct& product, const OperandBuffers& buffers,
                                           cudaStream_t stream);

  std::unique_ptr<CublasContext> context_;
  std::unique_ptr<ProductOperands> operands_;
};

}  // namespace pgtune::gpu

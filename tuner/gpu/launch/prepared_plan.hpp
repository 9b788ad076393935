// SPDX-License-Identifier: MIT
// A launch plan bound to a loaded module and to every operand copy. Arguments are packed and tensor maps encoded in
// advance, so launching costs the host only the launch.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/model/launch_plan.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// The arguments of one kernel launch, packed once and passed by pointer to every launch.
class ArgumentBlock {
 public:
  /// `maps` are the plan's tensor maps in its order, encoded for `operands`; they must outlive the block and not move.
  /// Errors (internal): an index outside `maps`, an integer that an int32 argument cannot hold.
  [[nodiscard]] static Result<ArgumentBlock> pack(const std::vector<KernelArgument>& arguments,
                                                  const OperandSet& operands, const std::vector<CUtensorMap>& maps);

  /// One pointer per argument, in the form cuLaunchKernelEx takes. Points into this block.
  [[nodiscard]] void** pointers() const { return const_cast<void**>(pointers_.data()); }

 private:
  std::vector<std::uint64_t> values_;  ///< never resized after pack: pointers_ points into it
  std::vector<void*> pointers_;
};

/// Element strides are 1, nothing is interleaved, and elements out of bounds read as zero.
[[nodiscard]] CudaResult<CUtensorMap> encode_tensor_map(const Driver& driver, const TensorMapPlan& plan,
                                                        std::uint64_t address);

class PreparedPlan {
 public:
  /// Looks up kernels, raises their shared-memory limits, encodes tensor maps and packs arguments for each of `copies`.
  /// `driver` and the module must outlive the result. Failures are the variant's fault. `max_window_bytes`: the
  /// device's limit on an access policy window, 0 if it supports none.
  [[nodiscard]] static CudaResult<PreparedPlan> prepare(const Driver& driver, const Module& module,
                                                        const LaunchPlan& plan, const std::vector<OperandSet>& copies,
                                                        std::int64_t max_window_bytes);

  /// Enqueues the whole plan on operand copy `copy`: the zeroing of the workspace where it asks for that, then its
  /// kernels in order. `follows`: the stream's last work was a launch of this plan, and the problem is chained: then
  /// the first kernel may start before that launch has ended, where the plan says so.
  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream, bool follows = false) const;

  /// Whether some kernel requests persisting L2 lines, which need a set-aside part of L2 while it runs.
  [[nodiscard]] bool wants_persisting_l2() const { return wants_persisting_l2_; }

 private:
  struct Kernel {
    CUfunction function = nullptr;
    KernelLaunch launch;
    std::string call;  ///< for messages
  };
  struct Copy {
    OperandSet operands;
    std::vector<CUtensorMap> maps;
    std::vector<ArgumentBlock> arguments;  ///< one per kernel; points into maps
  };

  PreparedPlan() = default;
  [[nodiscard]] CudaResult<> launch_kernel(const Kernel& kernel, const OperandSet& operands,
                                           const ArgumentBlock& arguments, cudaStream_t stream, bool overlaps) const;

  const Driver* driver_ = nullptr;
  std::vector<Kernel> kernels_;
  std::vector<std::unique_ptr<Copy>> copies_;
  bool zero_workspace_ = false;
  bool wants_persisting_l2_ = false;
  std::int64_t max_window_bytes_ = 0;
};

}  // namespace pgtune::gpu
